#!/usr/bin/env bash
# Installs the pinned Pi for the interop tests and benchmarks.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh
require_node
require_interop
