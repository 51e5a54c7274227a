#!/usr/bin/env bash
# Runs the benchmarks: session files beside Pi on Node, MySQL beside a bare INSERT loop, the live
# server beside a Node relay, file tools beside ripgrep and fd, and the planning of compactions.
# `make bench ARGS="live …"`, `ARGS="session …"`, `ARGS=tools` or `ARGS=compaction` runs one of them;
# `ARGS="live --hostile"` measures what a hostile user costs the others.
# All are built with the profile of releases. A benchmark that runs without options of its own writes
# its table into docs/performance.md.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh
source scripts/lib/mariadb.sh
source scripts/lib/private.sh
trap leave_nothing EXIT
# Some loads open thousands of connections.
ulimit -n "$(ulimit -Hn)"

which=all
if [[ ${1-} == session || ${1-} == live || ${1-} == tools || ${1-} == compaction ]]; then
  which=$1
  shift
fi
# Figures of other options are not comparable with those of the document.
record=
if [[ $# -eq 0 ]]; then record=yes; fi

# measure NAME COMMAND... runs a benchmark and shows its table. With `record` set, the table also replaces
# what docs/performance.md has between the marks of that name.
measure() {
  local name=$1 status=0 table tee
  shift
  # Not a pipe: the script has to know the process group of the benchmark to end it.
  exec {table}> >(tee "$work/$name.txt")
  tee=$!
  run_in_group "$@" >&"$table" || status=$?
  exec {table}>&-
  wait "$tee"
  if [[ $status -eq 0 && -n $record ]]; then
    { echo '```text'; cat "$work/$name.txt"; echo '```'; } >"$work/$name.md"
    sed -i "/^<!-- figures: $name -->\$/,/^<!-- end -->\$/{
      /^<!-- figures/{
        p
        r $work/$name.md
      }
      /^<!-- end/p
      d
    }" docs/performance.md
  fi
  return "$status"
}

require_cargo
if [[ $which == all || $which == tools ]]; then
  require_search
  measure tools cargo bench --profile dist -p netaclaw-tools --bench search
fi
if [[ $which == all || $which == compaction ]]; then
  measure compaction cargo bench --profile dist -p netaclaw-compaction --bench plan
fi
if [[ $which == tools || $which == compaction ]]; then exit 0; fi
require_node
require_interop

if [[ $which != live ]]; then
  require_mariadb
  # As durable as in the tests, but with the room that a server in use would be given.
  mariadb_start "$work/db" --innodb-log-file-size=96M --innodb-buffer-pool-size=128M
  export NETACLAW_BENCH_MYSQL_URL=mysql://neta:neta@127.0.0.1:$mariadb_port
  measure session cargo bench --profile dist -p netaclaw-store --bench session -- "$@"
  mariadb_stop
fi
if [[ $which != session ]]; then
  measure live cargo bench --profile dist -p netaclaw --bench live -- "$@"
fi
