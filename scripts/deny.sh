#!/usr/bin/env bash
# Checks the dependencies against deny.toml: licenses, banned crates, sources, and the advisories of
# RustSec where their database can be reached or an earlier copy of it is there.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/lib/tools.sh
require_cargo
require_deny
cargo deny --log-level error check --hide-inclusion-graph bans licenses sources

# Without a new copy an old one is better than none. Never wait for a network that swallows packets.
if timeout 120 cargo deny fetch db >/dev/null 2>&1; then
  cargo deny --log-level error check --hide-inclusion-graph --disable-fetch advisories
elif compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*/crates" >/dev/null; then
  echo 'the advisory database cannot be reached: checking against the last copy of it'
  cargo deny --log-level error check --hide-inclusion-graph --disable-fetch advisories
else
  echo 'the advisory database cannot be reached: advisories were not checked'
fi
