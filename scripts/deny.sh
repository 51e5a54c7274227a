#!/usr/bin/env bash
# Checks the dependencies against deny.toml.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh
require_cargo
cargo deny --version >/dev/null 2>&1 || die 'cargo-deny is missing: cargo install cargo-deny --locked'
cargo deny check bans licenses sources
