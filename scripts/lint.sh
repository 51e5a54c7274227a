#!/usr/bin/env bash
# lint.sh format | check: formats web/, e2e/ and interop/, or checks their format and lints them.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh

require_node
require_lint
case $1 in
  format) npm run --silent format ;;
  check)
    # Rules that need types read those of the packages.
    require_web
    require_e2e
    npm run --silent format:check
    npm run --silent lint
    ;;
  *) die 'usage: lint.sh format | check' ;;
esac
