# Everything a fresh machine needs, with Python 3.11+, git and make. Each target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
ARGS ?=
# More than cores: most tests wait for a process of theirs now and then.
WORKERS ?= 4

.PHONY: run test check bench soak reference clean format

run: $(VENV)/.run
	@$(BIN)/clew $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

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
	CLEW_REFERENCE=1 $(BIN)/python -m pytest tests/reference $(ARGS)

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
