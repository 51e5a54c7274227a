# Sourced. Checks that the tools are there, and installs those that a script may install.

# Debian keeps servers where an ordinary user's PATH does not look.
PATH=$PATH:/usr/sbin:/sbin

die() {
  printf '%s\n' "$1" >&2
  exit 1
}

have() {
  command -v "$1" >/dev/null
}

is_root() {
  [[ $(id -u) -eq 0 ]]
}

require_cargo() {
  have cargo || die 'cargo is missing: install the Rust toolchain with rustup'
}

require_nextest() {
  if cargo nextest --version >/dev/null 2>&1; then return; fi
  install_cargo_tool cargo-nextest
}

# A debug build: it checks one lock file, and optimizing it takes longer than it ever runs.
require_deny() {
  if cargo deny --version >/dev/null 2>&1; then return; fi
  install_cargo_tool cargo-deny --debug
}

# install_cargo_tool NAME [OPTION]... compiles a tool as root and in CI. On a developer's own machine,
# minutes of compiling are theirs to decide on.
install_cargo_tool() {
  local command="cargo install --locked $*"
  if ! is_root && [[ -z ${CI:-} ]]; then die "$1 is missing: $command"; fi
  echo "$1 is missing: $command"
  $command || die "$1 could not be installed: $command"
}

require_node() {
  if ! have node || ! have npm; then die 'node or npm is missing: install Node.js 20.19 or newer with npm'; fi
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
    die "Node.js $(node --version) is too old: install 20.19 or newer"
}

# What file tools are measured against.
require_search() {
  if have rg && have fdfind; then return; fi
  local hint='ripgrep or fd is missing: install ripgrep and fd-find'
  if ! is_root || ! have apt-get; then die "$hint"; fi
  apt-get install -y -qq ripgrep fd-find >/dev/null || die "$hint"
}

require_mariadb() {
  if have_mariadb; then return; fi
  local hint='MariaDB is missing: install mariadb-server and mariadb-client (10.6 or newer)'
  if ! is_root || ! have apt-get; then die "$hint"; fi
  echo 'MariaDB is missing: installing it'
  install_mariadb || die "$hint"
  have_mariadb || die "$hint"
}

have_mariadb() {
  have mariadbd && have mariadb-install-db && have mariadb
}

# Debian starts a server as soon as it is installed, unless policy-rc.d forbids it. The body is a
# subshell, so that its trap puts an existing policy back whatever happens.
install_mariadb() (
  policy=/usr/sbin/policy-rc.d
  saved=$policy.before-netaclaw
  trap 'rm -f "$policy"; if [[ -e $saved ]]; then mv "$saved" "$policy"; fi' EXIT
  if [[ -e $policy ]]; then mv "$policy" "$saved"; fi
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"

  export DEBIAN_FRONTEND=noninteractive
  install=(apt-get install -y -q --no-install-recommends mariadb-server mariadb-client)
  # A fresh image has no package lists; one that has them need not fetch them again.
  "${install[@]}" || { apt-get update -q && "${install[@]}"; }
)

# Installs the pinned Pi.
require_interop() {
  require_packages interop
}

# Installs the formatter and the linter of web/, e2e/ and interop/.
require_lint() {
  require_packages .
}

# Installs what the web app is built with.
require_web() {
  require_packages web
}

# Installs what the browser tests are written with.
require_e2e() {
  require_packages e2e
}

# A browser, and letters for Chinese: without them its pages are boxes.
require_browser() {
  if have_browser; then return; fi
  local hint='Chromium or its Chinese letters are missing: install chromium and fonts-noto-cjk, or say where the browser is: CHROMIUM=/path/to/it'
  if ! is_root || ! have apt-get; then die "$hint"; fi
  echo 'Chromium is missing: installing it'
  install_browser || die "$hint"
  have_browser || die "$hint"
}

have_browser() {
  [[ -x ${CHROMIUM:-/usr/bin/chromium} ]] && { [[ -n ${CHROMIUM:-} ]] || [[ -n $(fc-list :lang=zh 2>/dev/null | head -n 1) ]]; }
}

install_browser() (
  export DEBIAN_FRONTEND=noninteractive
  install=(apt-get install -y -q --no-install-recommends chromium fonts-noto-cjk fontconfig)
  "${install[@]}" || { apt-get update -q && "${install[@]}"; }
)

# Installs the packages of a directory unless those that are there are at least as new as its lock file.
require_packages() {
  local installed=$1/node_modules/.package-lock.json name=$1
  if [[ $name == . ]]; then name='the root'; fi
  if [[ -e $installed && ! $1/package-lock.json -nt $installed ]]; then return; fi
  echo "installing the packages of $name"
  # Not `npm ci`: it refuses a lock file that lacks the builds of optional packages for other
  # systems, which is what npm writes wherever a registry does not have all of them. Of its warnings
  # (packages that would like a newer Node and work with this one) cannot be fixed here.
  (cd "$1" && npm install --no-save --no-audit --no-fund --loglevel=error) ||
    die "the packages of $name could not be installed: cd $1 && npm install --no-save"
}
