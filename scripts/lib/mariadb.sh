# Sourced. A private MariaDB: its own data directory, socket and port, thrown away at the end.

mariadb_pid=
mariadb_log_reader=
mariadb_port=

# mariadb_start DIR [SERVER OPTION]... creates and starts a server in DIR and sets mariadb_port.
# The user neta, password neta, may do everything on it.
mariadb_start() {
  local dir=$1 options=(--no-defaults --datadir="$1/data" --innodb-data-file-path=ibdata1:10M:autoextend)
  shift
  # The server refuses to run as root without `--user=root`.
  if is_root; then options+=(--user=root); fi
  mkdir -p "$dir"
  mariadb-install-db "${options[@]}" --innodb-log-file-size=4M --skip-test-db \
    --auth-root-authentication-method=normal >"$dir/install.log" 2>&1 ||
    die "MariaDB could not create its data directory: $(tail -n 3 "$dir/install.log")"

  options+=(
    --socket="$dir/s.sock" --pid-file="$dir/pid" --bind-address=127.0.0.1 --skip-name-resolve
    --character-set-server=utf8mb4 --collation-server=utf8mb4_bin
    --innodb-flush-log-at-trx-commit=1 --innodb-log-file-size=4M --innodb-buffer-pool-size=32M
    # Tests run as many processes, each with a pool.
    --max-connections=500 --skip-log-bin --performance-schema=OFF "$@"
  )
  mariadb_launch_on_free_port "$dir/server.log" "${options[@]}" ||
    die "MariaDB did not start: $(tail -n 3 "$dir/server.log")"
  mariadb --no-defaults -uroot -S "$dir/s.sock" -e \
    "CREATE USER 'neta'@'127.0.0.1' IDENTIFIED BY 'neta'; GRANT ALL ON *.* TO 'neta'@'127.0.0.1' WITH GRANT OPTION"
}

# Another process may take the free port before it is used; then the next port is tried.
mariadb_launch_on_free_port() {
  local log=$1
  shift
  for _ in 1 2 3 4 5; do
    mariadb_port=$(free_port)
    if mariadb_launch "$log" "$@" --port="$mariadb_port"; then return; fi
  done
  return 1
}

# Starts the server and reads what it says until it is ready, or has ended.
mariadb_launch() {
  local log=$1 line output
  shift
  exec {output}< <(exec mariadbd "$@" 2>&1)
  mariadb_pid=$!
  while IFS= read -r -t 60 -u "$output" line; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line == *'ready for connections'* ]]; then
      # The server would block on a full pipe, and die of a closed one, without a reader.
      cat <&"$output" >>"$log" &
      mariadb_log_reader=$!
      exec {output}<&-
      return
    fi
  done
  exec {output}<&-
  mariadb_stop
  return 1
}

# The data is thrown away, so the server need not spend a second on putting it in order.
mariadb_stop() {
  if [[ -n $mariadb_pid ]]; then kill -KILL "$mariadb_pid" 2>/dev/null || true; fi
  # The reader ends when the last end of the server's output is closed, that is with the server.
  if [[ -n $mariadb_log_reader ]]; then wait "$mariadb_log_reader" || true; fi
  mariadb_pid='' mariadb_log_reader=''
}

free_port() {
  node -e 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}
