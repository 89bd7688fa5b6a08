# The one door. Each target does its own set-up; needs python3 >= 3.11, git and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check bench crash-matrix chaos diagnosis-report security-report lock fmt install install-dev clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    a red run becomes a reviewed, merged fix, on this machine, without an account"
	@echo "make test    everything CI runs"
	@echo "make check   format, lint, types, imports, unit tests (under 30 s)"
	@echo "make bench   speed, as ratios within one run"
	@echo "make crash-matrix   everything killed everywhere, every fault; goes on where it was cut short"
	@echo "make chaos N=10 SEED=1   random schedules of kills, faults and webhook troubles"
	@echo "make diagnosis-report   what the diagnosis says of each real job log, beside what a person says"
	@echo "make security-report   cheats rejected, honest fixes passed, malicious repositories contained"
	@echo "make fmt     format the code"
	@echo "make lock    write constraints.txt anew"

$(VENV)/runtime.done: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..." >&2; exit 3; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV), which takes a minute or two." >&2
	@$(PIP) -c constraints.txt -e .
	@touch $@

$(VENV)/dev.done: $(VENV)/runtime.done
	$(PIP) -c constraints.txt -e '.[dev,llm]'
	@touch $@

install: $(VENV)/runtime.done
install-dev: $(VENV)/dev.done

demo: install
	@$(BIN)/sweeper demo $(ARGS)

fmt: install-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: install-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q -n 2 -m "not slow" tests/unit tests/architecture

test: check
	$(BIN)/pytest -q -n 2 -m slow tests/unit tests/architecture
	$(BIN)/pytest -q -n 2 --dist loadscope --ignore tests/unit --ignore tests/architecture tests

bench: install-dev
	@$(BIN)/python -m tests.bench

crash-matrix: install-dev
	@$(BIN)/python -m tests.crash.matrix $(ROWS)

chaos: install-dev
	@$(BIN)/python -m tests.crash.chaos $(or $(N),10) $(or $(SEED),1)

diagnosis-report: install-dev
	@$(BIN)/python -m tests.reports.diagnosis

security-report: install-dev
	@$(BIN)/python -m tests.security.report

lock: install-dev
	$(BIN)/pip-compile --quiet --upgrade --extra dev --extra llm --strip-extras --no-header --annotation-style=line \
	  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file constraints.txt pyproject.toml

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
