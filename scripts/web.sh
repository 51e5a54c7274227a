#!/usr/bin/env bash
# web.sh build | fresh | dev: builds the web app, the same unless nothing changed since, or serves it
# with hot reload in front of a running server.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh

# Whether dist is newer than all that it is made of.
is_fresh() {
  [[ -f web/dist/index.html ]] || return 1
  local changed
  changed=$(find web \( -name node_modules -o -name dist -o -name coverage \) -prune -o -type f -newer web/dist/index.html -print -quit)
  [[ -z $changed ]]
}

task=$1
if [[ $task == fresh ]]; then
  if is_fresh; then exit 0; fi
  if ! have npm; then
    echo "npm is not installed, so the binary goes without the web app; install Node.js 20 or newer" >&2
    exit 0
  fi
  task=build
fi
require_node
require_web
cd web
exec npm run --silent "$task"
