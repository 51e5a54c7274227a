#!/usr/bin/env bash
# Checks and tests everything. The last line is "N passed, N failed"; the exit code is 0 only if
# nothing failed. Installs what is missing where it may, and leaves nothing else behind.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh
source scripts/lib/python.sh
source scripts/lib/mariadb.sh
source scripts/lib/private.sh
source scripts/lib/steps.sh

# Without a result of its own, an early end counts as one failure.
finished=no
at_exit() {
  leave_nothing
  if [[ $finished == no ]]; then printf '%d passed, %d failed\n' "$passed" $((failed + 1)); fi
}
trap at_exit EXIT

interop_tests() {
  cd interop && node --test --test-reporter=spec
}

python_tests() {
  cd interop/python && "$interop_python" -B -m pytest -q -p no:cacheprovider "$@"
}

# The skills need nothing but Python itself; only their tests need pytest.
skill_tests() {
  "$interop_python" -B -m pytest -q -p no:cacheprovider skills/tests
}

web() {
  cd web && npm run --silent "$@"
}

# The binary with the app that the step before has built. What a failure looked like stays in e2e/test-results.
browser_tests() {
  cargo build -q -p netaclaw && cd e2e && npm run --silent check && npm test --silent ||
    { echo "pictures and traces of what failed are in e2e/test-results"; return 1; }
}

require_cargo
require_nextest
require_deny
require_node
require_mariadb
require_interop
install_python
require_interop_python || die 'the Python clients could not be installed: see interop/python/requirements.txt'
require_lint
require_web
require_e2e
require_browser

mariadb_start "$work/db"
export NETACLAW_TEST_MYSQL_URL=mysql://neta:neta@127.0.0.1:$mariadb_port
# A golden file that differs is a failure to look at, not a new file in the work tree.
export INSTA_UPDATE=no

step format  check   cargo fmt --all --check
step clippy  check   cargo clippy --workspace --all-targets --all-features -- -D warnings
step tidy    check   cargo run -q -p xtask -- tidy
step deny    check   scripts/deny.sh
step prettier check  npm run --silent format:check
step eslint  check   npm run --silent lint
step rust    nextest cargo nextest run --workspace --all-features --no-fail-fast
step interop node    interop_tests
step python  pytest  python_tests --ignore=test_local_model.py
step skills  pytest  skill_tests
# The one step that needs something too large to insist on.
if require_local_model; then
  export LOCAL_MODEL_PYTHON=$local_model_python
  step model pytest python_tests test_local_model.py
else
  skip_step model 'the real small model could not be installed (offline?); `make local-model` tells more'
fi
step types   check   web check
step web     vitest  web test
step bundle  check   web build
step browser playwright browser_tests

finished=yes
sum_up
