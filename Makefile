# Everything a fresh machine needs, with Python 3.11+, git and make. Each target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
ARGS ?=
# One more than two cores: tests wait for processes of theirs now and then.
WORKERS ?= 3
SLOW := unit/sandbox unit/system unit/undo unit/hooks

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
	$(PIP) install -c constraints.txt -e '.[mcp]'
	@touch $@

# claude-agent-sdk from its source: the wheel brings a program of 160 MB that is never run here.
$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt --no-binary claude-agent-sdk -e '.[dev]'
	@touch $@ $(VENV)/.run
