# The verbs of this checkout. Each makes what it needs; only python3 (3.11+) with venv is required.

PYTHON ?= python3
ARGS ?=

# Three, since they wait for clouds as often as for processors; each has a cloud of its own.
# Tests of one file stay together; files with clouds go first.
PROCESSES = --numprocesses=3 --dist=loadfile --no-loadscope-reorder

BOOTSTRAP = $(PYTHON) tools/bootstrap.py

.PHONY: help quickstart test kubernetes test-kubernetes test-go-client chaos check docs clean

help:
	@echo "make quickstart  run everything on this machine and create a first cluster"
	@echo "make test        run the whole test suite             ARGS=-k something"
	@echo "make test-kubernetes  the tests on a real Kubernetes; needs Go, and 10 minutes once"
	@echo "make test-go-client  the tests with gophercloud; needs Go"
	@echo "make chaos       kill its processes while operations run    ARGS='--rounds 100 --seed 42'"
	@echo "make check       linters, types, import contracts"
	@echo "make docs        run the commands of the tutorial against a running quickstart"
	@echo "make clean       stop what runs and remove all that the other verbs made"

quickstart:
	@$(BOOTSTRAP) --devcloud -m quickstart $(ARGS)

test:
	@$(BOOTSTRAP) --devcloud -m pytest $(PROCESSES) --ignore=tests/kubernetes --ignore=tests/go_client $(ARGS)

kubernetes:
	@$(BOOTSTRAP) -m tests.kubernetes.programs.build

test-kubernetes: kubernetes
	@$(BOOTSTRAP) --devcloud -m pytest --numprocesses=0 tests/kubernetes $(ARGS)

test-go-client:
	@$(BOOTSTRAP) --devcloud -m pytest --numprocesses=0 tests/go_client $(ARGS)

chaos:
	@$(BOOTSTRAP) -m tests.chaos $(ARGS)

check:
	@$(BOOTSTRAP) -m tools.check

docs:
	@$(BOOTSTRAP) -m tools.check_docs $(ARGS)

clean:
	@$(PYTHON) -m quickstart.clean
