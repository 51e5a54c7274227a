#!/usr/bin/env bash
# Runs the session benchmarks: files beside Pi on Node, MySQL beside a bare INSERT loop.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh
source scripts/lib/mariadb.sh
source scripts/lib/private.sh
trap leave_nothing EXIT

require_cargo
require_node
require_mariadb
require_interop

# As durable as in the tests, but with the room that a server in use would be given.
mariadb_start "$work/db" --innodb-log-file-size=96M --innodb-buffer-pool-size=128M
export NETACLAW_BENCH_MYSQL_URL=mysql://neta:neta@127.0.0.1:$mariadb_port

run_in_group cargo bench -p netaclaw-store --bench session -- "$@"
