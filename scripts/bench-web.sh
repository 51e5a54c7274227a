#!/usr/bin/env bash
# Measures the page with long sessions in a real Chromium and says whether it keeps what is promised: e2e/bench.
# BENCH_SECONDS is how long it streams; ten minutes unless it says otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh

require_cargo
require_node
require_web
require_e2e
require_browser

(cd web && npm run --silent build)
cargo build --profile dist -p netaclaw
export NETACLAW_BINARY=${NETACLAW_BINARY:-${CARGO_TARGET_DIR:-$PWD/target}/dist/netaclaw}
cd e2e && npm run --silent bench
