# Everything here needs Go and nothing else; `make test` starts its own
# PostgreSQL (and installs one where it may).

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
POSTGRES := $(GO) run ./internal/db/dbtest/pgtest
PACKAGES ?= ./...
FUZZTIME ?= 100000x
FUZZ_IN  ?= internal cmd
REQUESTS ?= 1000000
BENCH    ?= .
N        ?= 1
DAYS     ?= 1000
MINUTES  ?= 1
HOURS    ?= 2
PROGRAMS ?= 3
SEED     ?= $(shell date +%s)

.DEFAULT_GOAL := help
.PHONY: help run check test test-pg standby failover rolling simulate torture mutants soak prove console-walk bench bench-go fuzz fuzz-requests lint generate measure release release-twice image

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: ## start Kobo in sandbox mode (the same as: go run ./cmd/kobo dev)
	$(GO) run ./cmd/kobo dev

check: ## everything CI runs
	.ci/run

test: ## every test, on SQLite and PostgreSQL (PACKAGES=./internal/ledger/... for some)
	$(POSTGRES) -- $(GO) test -parallel 6 -timeout 25m $(PACKAGES)

test-pg: ## the PostgreSQL half of the tests alone
	$(POSTGRES) -- $(GO) test -parallel 6 -timeout 25m -run '/^postgres$$' $(PACKAGES)

standby: ## a failover under load, N times (N=5): three PostgreSQL servers, of which the primary dies
	$(GO) test -count=$(N) -timeout 60m -v ./internal/apptest/standby

failover: ## N failovers under load (N=50): the primary is killed, frozen or cut off, or the standbys stop (SEED=7 repeats the order)
	@mkdir -p bin
	KOBO_TEST_FAILOVERS=$(N) KOBO_TEST_SEED=$(SEED) $(GO) test -count=1 -timeout 120m -v -run TestFailoversUnderLoad ./internal/apptest/standby >bin/failover.log 2>&1; code=$$?; grep -v level= bin/failover.log; exit $$code

simulate: ## run the whole program for virtual days, with faults that a seed chooses (DAYS=1000, SEED=7 repeats a run)
	KOBO_SIM_DAYS=$(DAYS) KOBO_SIM_SEED=$(SEED) $(GO) test -count=1 -v -timeout 0 -run TestDays ./internal/sim

rolling: ## three programs replaced in turn under load, N times (N=5), on SQLite and PostgreSQL
	$(POSTGRES) -- $(GO) test -count=$(N) -timeout 60m -v -run TestThreeProgramsAreReplacedInTurn ./internal/apptest

torture: ## break a throw-away Kobo and its database under load, on SQLite and PostgreSQL, with failovers (MINUTES=60, PROGRAMS=3, SEED=7 repeats the choices)
	$(GO) build -o bin/kobo ./cmd/kobo
	bin/kobo torture --seed $(SEED) --minutes $(MINUTES)
	$(POSTGRES) -- sh -c 'bin/kobo torture --seed $(SEED) --minutes $(MINUTES) --programs $(PROGRAMS) --postgres "$$KOBO_TEST_POSTGRES"'
	bin/kobo torture --seed $(SEED) --minutes $(MINUTES) --programs $(PROGRAMS) --postgres own
	bin/kobo torture --seed $(SEED) --minutes $(MINUTES) --programs $(PROGRAMS) --postgres own --standbys 2

soak: ## a constant load with a few faults on PostgreSQL for hours, and whether the program grew meanwhile (HOURS=2)
	$(GO) build -o bin/kobo ./cmd/kobo
	$(POSTGRES) -durable -- sh -c 'bin/kobo bench soak --postgres "$$KOBO_TEST_POSTGRES" --rate 8 --duration $(HOURS)h --json bin/soak.json --chart bin/soak.svg'

prove: ## hours: planted bugs, failovers, virtual days, long torture, long fuzzing, a million requests, a long run (write the results into docs/proof.md)
	$(MAKE) mutants
	$(MAKE) failover N=50
	$(MAKE) rolling N=5
	$(MAKE) simulate DAYS=1000
	$(MAKE) torture MINUTES=60
	$(MAKE) fuzz FUZZTIME=2000000x
	$(MAKE) fuzz-requests REQUESTS=1000000
	$(MAKE) soak HOURS=2

mutants: ## plant bugs, and prove that the named test catches each (ARGS='sweep inbox' for some, ARGS='-write docs/proof.md' keeps the result)
	@$(GO) -C tools build -o ../bin/mutants ./mutants
	$(POSTGRES) -- bin/mutants $(ARGS)

console-walk: ## walk the console in a headless Chromium (PICTURES=dir keeps pictures; needs chromium and npm)
	$(GO) build -o bin/kobo ./cmd/kobo
	tools/walk/run.sh bin/kobo $(PICTURES)

bench: ## measure Kobo on SQLite and PostgreSQL with every commit on the disk (ARGS='hot --clients 256' for some)
	$(GO) build -o bin/kobo ./cmd/kobo
	bin/kobo bench --limits $(ARGS)
	$(POSTGRES) -durable -- sh -c 'bin/kobo bench --postgres "$$KOBO_TEST_POSTGRES" --limits $(ARGS)'

bench-go: ## benchmarks of single packages, with every commit on the disk (BENCH=Commit for some)
	$(POSTGRES) -durable -- $(GO) test -run '^$$' -bench '$(BENCH)' $(PACKAGES)

# A number of inputs, and no time: with a time, Go 1.26 sometimes ends with "context deadline exceeded" and no finding (golang/go#75804).
fuzz: ## every fuzz target with so many inputs, two at a time (FUZZTIME=100000x)
	tools/fuzz.sh $(FUZZTIME) $(FUZZ_IN)

fuzz-requests: ## generated requests against a running program on both databases (REQUESTS=1000000)
	KOBO_TEST_REQUESTS=$(REQUESTS) $(POSTGRES) -- $(GO) test -v -timeout 120m -run TestGeneratedRequests ./internal/apptest

lint: ## formatting, go vet and staticcheck
	@unformatted=$$($(TOOL) gofumpt -l cmd internal); test -z "$$unformatted" || { echo "run '$(TOOL) gofumpt -w' on:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...

generate: ## make the generated code again from its sources
	$(GO) generate ./...
	cd clients/go && $(GO) generate ./...

measure: ## figures about the size and the shape of the code
	@$(GO) -C tools build -o ../bin/measure ./measure && bin/measure

release: ## the binaries of this commit for all platforms, with checksums, SBOM and licences, in dist/
	deploy/release.sh dist

release-twice: ## build the release twice, and compare the bytes (PLATFORMS=linux/amd64 for one)
	deploy/release-twice.sh $(PLATFORMS)

image: ## start the container image, or its root file system where no container builder is, and ask /readyz
	deploy/try-image.sh
