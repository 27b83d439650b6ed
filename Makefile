# Hearth needs Go and a C compiler. `make run` is all a new checkout needs; `make help` lists the rest.

GO      ?= go
TAGS    := sqlite_fts5
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unversioned)
LDFLAGS := -X main.version=$(VERSION)

# Linters and formatters are pinned in a module file of their own, so that none of their modules reaches the product's.
TOOL := $(GO) tool -modfile=.ci/tools.mod

# Handed to `go test` by test and race: make test TESTFLAGS='-run TestCFG -v' PKGS=./config
TESTFLAGS ?=
PKGS      ?= ./...

# make bench BENCH=Recall BENCHTIME=3s PKGS=./vault
BENCH     ?= .
BENCHTIME ?= 1s

# make torture TORTUREFLAGS='-torture 500 -v': how often the program is killed; the tests named Torture take the flag.
TORTUREPKGS  ?= ./cmd/hearth ./gateways/outbox ./scheduler
TORTUREFLAGS ?= -torture 50 -timeout 30m

# make torture CUTS=500: how often the power is cut, and how often under a disk that only pretends to flush.
CUTS    ?= 200
LIECUTS ?= 60

.DEFAULT_GOAL := build
.PHONY: help run build test race check fmt fmtcheck vet lint vuln bench bench-memory torture peers live-ollama release arm64 clean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):[^#]*## */\1\t/' | expand -t 10

run: build ## build, and talk to it here: no config, no account, no model
	@bin/hearth chat

build: ## bin/hearth
	@mkdir -p bin
	$(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/hearth ./cmd/hearth

test: ## the whole suite
	$(GO) test -tags $(TAGS) $(TESTFLAGS) $(PKGS)

race: ## the whole suite under the race detector
	$(GO) test -race -tags $(TAGS) $(TESTFLAGS) $(PKGS)

check: fmtcheck vet lint race vuln ## format, vet, lint, race tests, vulnerabilities

fmt: ## rewrite every file as gofumpt wants it
	$(TOOL) gofumpt -w .

fmtcheck:
	@files=$$($(TOOL) gofumpt -l .) || exit 1; \
	if [ -n "$$files" ]; then \
		printf 'These files are not formatted; run "make fmt":\n%s\n' "$$files" >&2; exit 1; \
	fi

vet:
	$(GO) vet -tags $(TAGS) ./...

lint: ## golangci-lint, the import table included
	$(TOOL) golangci-lint run ./...

vuln: ## known vulnerabilities in what the program calls
	@GO='$(GO)' TAGS='$(TAGS)' .ci/vuln

bench: ## the figures of docs/benchmarks.md; PKGS=./cmd/hearth for those of the whole program alone
	$(GO) test -tags $(TAGS) -run=NONE -bench='$(BENCH)' -benchtime=$(BENCHTIME) -benchmem $(PKGS)

bench-memory: ## how well it finds again what was said, without a model: make bench-memory DATA=a file of LoCoMo conversations
	@test -n '$(DATA)' || { echo 'make bench-memory DATA=FILE: a file of LoCoMo conversations' >&2; exit 2; }
	$(GO) test -tags $(TAGS) -count=1 -run TestLoCoMo ./vault -locomo '$(abspath $(DATA))' -v

torture: ## kill -9 at random moments, and look for what was lost or done twice
	$(GO) test -tags $(TAGS) -count=1 -run Torture $(TORTUREPKGS) $(TORTUREFLAGS)
	$(GO) test -tags $(TAGS) -count=1 -run PowerCut ./cmd/hearth -timeout 30m -cuts $(CUTS) -liecuts $(LIECUTS)

peers: ## what others wrote judges the Telegram gateway and the recurrences; needs nodejs, npm, python-telegram-bot 13, dateutil
	@GO='$(GO)' TAGS='$(TAGS)' .ci/peers/run

live-ollama: ## talk with a real Ollama server over its three wire formats; builds it first (minutes); needs nlohmann-json3-dev, libstb-dev
	@GO='$(GO)' TAGS='$(TAGS)' .ci/live/run

release: ## dist/hearth-VERSION-linux-{amd64,arm64,arm}
	@GO='$(GO)' TAGS='$(TAGS)' VERSION='$(VERSION)' .ci/release

arm64: ## the binary for a Pi, built and run here under qemu
	@GO='$(GO)' TAGS='$(TAGS)' .ci/arm64

clean: ## what was built here; the build cache is kept
	rm -rf bin dist
