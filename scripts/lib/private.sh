# Sourced. A private directory, and commands that end with the script: whatever way the script
# ends, nothing that it made or started is left behind.

# The path is short because MariaDB's socket lies in it, and a socket's path ends at 107 characters.
work=$(mktemp -d /tmp/neta.XXXXXX)
# Tests of the sandbox start programs under another account, which must reach its own directory in there.
chmod 711 "$work"
running=

# What tests and benchmarks put into temporary or Pi's own directories goes away with ours.
mkdir "$work/tmp"
export TMPDIR=$work/tmp PI_CODING_AGENT_DIR=$work/tmp/pi

trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command in a process group of its own and gives its exit code. Bash handles signals only
# between foreground commands, so the command runs in the background and the script waits for it.
run_in_group() {
  local status=0
  set -m
  "$@" </dev/null &
  running=$!
  set +m
  wait "$running" || status=$?
  running=
  return "$status"
}

# For the EXIT trap of a script.
leave_nothing() {
  trap '' HUP INT TERM
  if [[ -n $running ]]; then
    kill -TERM -- "-$running" 2>/dev/null || true
    wait "$running" 2>/dev/null || true
  fi
  mariadb_stop
  rm -rf "$work"
}
