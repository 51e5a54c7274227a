#!/usr/bin/env bash
# Writes pictures of every page, in both themes and languages, on a desk and on a phone.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh

require_cargo
require_node
require_web
require_e2e
require_browser

(cd web && npm run --silent build)
cargo build -p netaclaw
cd e2e && npm run --silent pictures
