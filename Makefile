# The commands of the project. The work is done by cargo and by the scripts in scripts/.

# Arguments for `make run`, `make local-model` and `make bench`: make run ARGS="session list".
ARGS ?=

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run dist local-model test owners bench bench-web pictures fmt lint deny interop types web dev clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

run: ## build NetaClaw with its web app and start it (ARGS="...")
	@scripts/web.sh fresh
	@cargo build --release -p netaclaw
	@"$${CARGO_TARGET_DIR:-target}/release/netaclaw" $(ARGS)

dist: ## build the fully optimized binary for servers: target/dist/netaclaw
	@scripts/web.sh fresh
	@cargo build --profile dist -p netaclaw

local-model: ## start a real small model here and chat with it, without a key (ARGS="--port N")
	@cargo build --release -p netaclaw
	@scripts/local-model.sh $(ARGS)

test: ## check and test everything; ends with "N passed, N failed"
	@scripts/test.sh

owners: ## two servers, terminals and 16 clients on one MariaDB, with kills, for five minutes
	@NETACLAW_CHAOS_SECONDS=$${NETACLAW_CHAOS_SECONDS:-300} cargo nextest run --profile long -p netaclaw owners_chaos --no-capture

bench: ## measure against Pi, a bare INSERT loop, a Node relay, ripgrep and fd (ARGS="session|live|tools ...")
	@scripts/bench.sh $(ARGS)

bench-web: ## measure the page with long sessions in a real browser; takes a quarter of an hour
	@scripts/bench-web.sh

fmt: ## format the Rust code, web/, e2e/ and interop/
	@cargo fmt --all
	@scripts/lint.sh format

lint: ## run clippy, the tidy checks, Prettier and ESLint
	@cargo clippy --workspace --all-targets --all-features -- -D warnings
	@cargo run -q -p xtask -- tidy
	@scripts/lint.sh check

deny: ## check dependencies: licenses, banned crates, sources, advisories
	@scripts/deny.sh

interop: ## install the real Pi, for the interop tests and benchmarks
	@scripts/interop.sh

types: ## write the web app's protocol types
	@cargo run -q -p xtask -- types

web: ## build the web app into web/dist
	@scripts/web.sh build

pictures: ## write pictures of every page to e2e/screenshots, for looking at
	@scripts/pictures.sh

dev: ## serve the web app with hot reload, in front of a running server (NETACLAW_URL=...)
	@scripts/web.sh dev

clean: ## remove everything that was built or installed here
	@cargo clean
	@rm -rf node_modules interop/node_modules web/node_modules web/dist e2e/node_modules e2e/test-results e2e/screenshots .cache
