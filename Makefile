# Everything a fresh machine needs, with Python 3.11+, git and make. Each target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# Python 3.11 reads this file in the locale's encoding: by a relative path it also starts where LC_ALL is C and the clone's
# own path has other letters than ASCII has.
SOURCE_BESIDE = @for file in $(VENV)/lib/python3*/site-packages/_*clew.pth; do \
	if [ -f "$$file" ]; then echo ../../../../src > "$$file"; fi; done
ARGS ?=
# One more than two cores: tests wait for processes of theirs now and then.
WORKERS ?= 3
# What make quick leaves out: it starts many processes, or plays thousands of cases.
SLOW := unit/sandbox unit/system unit/undo unit/hooks unit/mcp unit/permissions/redteam unit/permissions/test_scenes.py \
	unit/permissions/test_own_corpus.py unit/foreign/test_damage.py unit/ledger/test_hostile_text.py \
	unit/orient/test_told_sessions.py unit/transcript/test_corruption.py unit/host/test_tool_search.py \
	unit/host/test_hooking.py unit/tools/test_bash.py unit/tools/test_web.py unit/tools/test_git_hostile.py \
	unit/tools/test_sandbox_commands.py unit/tools/test_search_tools.py engine/compaction/test_probes.py

.PHONY: run test quick corpus check bench soak reference clean format

run: $(VENV)/.run
	@$(BIN)/clew $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# About a minute: what needs neither a terminal, nor a sandbox, nor hundreds of processes.
quick: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/architecture tests/unit tests/engine $(SLOW:%=--ignore=tests/%) $(ARGS)

# What the suite leaves out of its long lists of cases: every probe in every other kind of sandbox.
corpus: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m corpus $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	$(BIN)/python -m bench $(ARGS)

soak: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m soak $(ARGS)

reference: $(VENV)/.dev
	CLEW_REFERENCE=1 $(BIN)/python -m pytest tests/reference tests/e2e/test_clients.py $(ARGS)

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "clew needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e .
	$(SOURCE_BESIDE)
	@touch $@

# claude-agent-sdk from its source: the wheel brings a program of 160 MB that is never run here.
$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt --no-binary claude-agent-sdk -e '.[dev]'
	$(SOURCE_BESIDE)
	@touch $@ $(VENV)/.run
