#!/usr/bin/env bash
# web.sh build | dev: builds the web app, or serves it with hot reload in front of a running server.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh
require_node
require_web
cd web
exec npm run --silent "$1"
