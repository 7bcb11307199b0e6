# The developer's interface. `make help` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Set in many containers, it makes every command compile the provider SDKs anew: three times slower.
unexport PYTHONDONTWRITEBYTECODE

PYTHON := .venv/bin/python
SANDBOX := $(PYTHON) -m sandbox
# Written when the Python environment is what the lock file says; it lies in the environment and goes with it.
ENVIRONMENT := .venv/.synced

.PHONY: help
help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(ENVIRONMENT): pyproject.toml uv.lock
	@command -v uv >/dev/null || { echo "error: uv is not on PATH; install it (https://docs.astral.sh/uv/) and run again" >&2; exit 2; }
	@echo "installing the Python packages of uv.lock"
	@uv sync --locked --quiet
	@touch $@

.PHONY: preview up down recover
preview: $(ENVIRONMENT) ## show what a stack would build, judged by the policies (STACK=dev)
	@$(SANDBOX) preview $(or $(STACK),dev)

up: $(ENVIRONMENT) ## build a stack to the end in the sandbox (STACK=local)
	@$(SANDBOX) up $(or $(STACK),local)

down: $(ENVIRONMENT) ## destroy it, and prove that nothing is left (STACK=local)
	@$(SANDBOX) down $(or $(STACK),local)

recover: $(ENVIRONMENT) ## finish what a crash or an interruption left half done (STACK=local)
	@$(SANDBOX) recover $(or $(STACK),local)

.PHONY: build build-all test e2e bench
build: $(ENVIRONMENT) ## build the tools the tests need: the Pulumi engine and promtool
	@$(SANDBOX) build pulumi promtool

build-all: $(ENVIRONMENT) ## build every tool, those of the real Kubernetes too: once, about twenty minutes
	@$(SANDBOX) build

# Tests read CRDs from Go modules, and use no network: what they read is fetched before.
.PHONY: modules
modules: $(ENVIRONMENT)
	@$(SANDBOX) build modules >/dev/null

# On several cores: each engine test has its own backend, plugins and AWS, and waits for processes most of the time.
test: build modules ## run every test but those of e2e
	@$(PYTHON) -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

# Three at a time, a file to one: each has a control plane of its own, which waits for most of the time.
e2e: build-all ## run the tests that need the real Kubernetes: API server, scheduler, Karpenter, Helm
	@$(PYTHON) -m pytest tests/e2e --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations=10

bench: build ## measure imports, checks and previews, side by side
	@$(PYTHON) tests/bench/run.py

.PHONY: mutants
mutants: $(ENVIRONMENT) ## see whether a test notices each small change of rules and planning (ONLY='eks_gpu.planning.*')
	@uv run --locked --quiet --group mutants python tests/mutants/run.py $(ONLY)

.PHONY: check lint types fmt docs
check: lint types docs-current ## lint, types, import contracts, generated files current

lint: $(ENVIRONMENT) ## ruff and the import contracts
	@.venv/bin/ruff check
	@.venv/bin/ruff format --check
	@.venv/bin/lint-imports

# Each program is a module called __main__, so each is checked by itself.
PROGRAMS := policies/__main__.py $(wildcard examples/*/__main__.py)
types: $(ENVIRONMENT) ## mypy, strict
	@.venv/bin/mypy
	@for program in $(PROGRAMS); do .venv/bin/mypy $$program; done

fmt: $(ENVIRONMENT) ## format, and repair what can be repaired
	@.venv/bin/ruff format
	@.venv/bin/ruff check --fix

docs: $(ENVIRONMENT) ## write the generated reference pages and the schema of the stack files
	@$(PYTHON) docs/generate.py

.PHONY: docs-current
docs-current: $(ENVIRONMENT)
	@$(PYTHON) docs/generate.py --check

.PHONY: clean-sandbox
clean-sandbox: ## stop what the sandbox runs, and forget its state (built tools stay)
	@if [ -x $(PYTHON) ]; then $(SANDBOX) clean; else rm -rf .sandbox; fi
