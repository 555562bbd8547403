# Everything here needs Go and nothing else; `make test` starts its own
# PostgreSQL (and installs one where it may).

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
POSTGRES := $(GO) run ./internal/db/dbtest/pgtest
PACKAGES ?= ./...
FUZZTIME ?= 20s
BENCH    ?= .
N        ?= 1

.DEFAULT_GOAL := help
.PHONY: help run check test test-pg standby bench bench-naive fuzz lint generate measure

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: ## start Kobo in sandbox mode (the same as: go run ./cmd/kobo dev)
	$(GO) run ./cmd/kobo dev

check: ## everything CI runs
	.ci/run

test: ## every test, on SQLite and PostgreSQL (PACKAGES=./internal/ledger/... for some)
	$(POSTGRES) -- $(GO) test -timeout 25m $(PACKAGES)

test-pg: ## the PostgreSQL half of the tests alone
	$(POSTGRES) -- $(GO) test -timeout 25m -run '/^postgres$$' $(PACKAGES)

standby: ## a failover under load, N times (N=5): three PostgreSQL servers, of which the primary dies
	$(GO) test -count=$(N) -timeout 60m -v ./internal/apptest/standby

bench: ## benchmarks, with every commit on the disk as in production (BENCH=Commit for some)
	$(POSTGRES) -durable -- $(GO) test -run '^$$' -bench '$(BENCH)' $(PACKAGES)

bench-naive: ## beside it, PostgreSQL's own pgbench on one hot row, each request locking for itself
	$(POSTGRES) -durable -- sh -c 'cd internal/operation/testdata && psql -q "$$KOBO_TEST_POSTGRES" -f hot_row_schema.pgbench && \
		for callers in 1 16 64; do echo "callers=$$callers"; \
			pgbench -n -M prepared -f hot_row.pgbench -c $$callers -j 2 -T 10 "$$KOBO_TEST_POSTGRES" 2>/dev/null | grep -E "tps|latency average"; done'

fuzz: ## every fuzz target for a while (FUZZTIME=20s)
	@set -e; grep -rl '^func Fuzz' --include='*_test.go' internal cmd | while read -r file; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
			echo "$$file $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "./$$(dirname "$$file")"; \
		done; \
	done

lint: ## formatting, go vet and staticcheck
	@unformatted=$$($(TOOL) gofumpt -l cmd internal); test -z "$$unformatted" || { echo "run '$(TOOL) gofumpt -w' on:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...

generate: ## make the generated code again from its sources
	$(GO) generate ./...

measure: ## figures about the size and the shape of the code
	@$(GO) -C tools build -o ../bin/measure ./measure && bin/measure
