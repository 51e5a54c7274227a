# Sourced. Runs the steps of the test command and counts what passed and failed.

passed=0
failed=0
skipped=0
summary=()

# step NAME KIND COMMAND... runs a command, shows its output and counts its result. A failing step
# does not stop the later ones. KIND says what to count:
#   check    the step itself, as one
#   nextest  the tests that cargo nextest reports
#   node     the tests that node --test reports
#   pytest   the tests that pytest reports
#   vitest   the tests that vitest reports
#   playwright  the tests that Playwright reports
step() {
  local name=$1 kind=$2 started=$SECONDS log=$work/step.log status=0 step_passed step_failed line
  shift 2
  printf '\n== %s: %s\n' "$name" "$*"
  run_in_group show_and_keep "$log" "$@" || status=$?
  read -r step_passed step_failed < <(plain_text "$log" | "count_$kind" "$status")
  # Whatever was counted, a command that says that it failed has failed, and so has one that tested nothing.
  if ((step_failed == 0 && (status != 0 || step_passed == 0))); then step_failed=1; fi
  ((passed += step_passed, failed += step_failed)) || true
  printf -v line '%-12s %5d passed %5d failed %5d s' "$name" "$step_passed" "$step_failed" $((SECONDS - started))
  summary+=("$line")
  echo "-- $line"
}

# skip_step NAME REASON counts a step that could not be run, which is neither passed nor failed.
skip_step() {
  local line
  ((skipped += 1))
  printf -v line '%-12s skipped: %s' "$1" "$2"
  summary+=("$line")
  printf '\n-- %s\n' "$line"
}

# Prints the result, whose last line other programs read, and fails if anything did.
sum_up() {
  printf '\n'
  printf '%s\n' "${summary[@]}"
  if ((skipped > 0)); then printf '\n%d steps skipped\n' "$skipped"; fi
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [[ $failed -eq 0 ]]
}

show_and_keep() {
  local log=$1
  shift
  set -o pipefail
  "$@" 2>&1 | tee "$log"
}

# Colours would hide the words that are counted.
plain_text() {
  sed $'s/\x1b\\[[0-9;]*[A-Za-z]//g' "$1"
}

# The counters read a step's output, get its exit code, and print "PASSED FAILED".

count_check() {
  if [[ $1 -eq 0 ]]; then echo '1 0'; else echo '0 1'; fi
}

# Summary [ 1.2s] 9/12 tests run: 5 passed (1 slow), 1 failed, 1 exec failed, 2 timed out, 0 skipped
# Without such a line nothing was run, most likely because something does not compile; step() then
# counts one failure.
count_nextest() {
  awk '
    /Summary \[.*tests? run:/ { line = $0; sub(/.*tests? run:/, "", line) }
    END {
      gsub(/\([^)]*\)/, "", line)
      parts = split(line, part, ",")
      for (i = 1; i <= parts; i++) {
        count = part[i] + 0
        if (part[i] ~ /passed/) passed += count
        if (part[i] ~ /failed|timed out/) failed += count
      }
      print passed + 0, failed + 0
    }'
}

# The lines "# pass 9" (tap) or "ℹ pass 9" (spec) of the report.
count_node() {
  awk '
    NF == 3 && $2 == "pass" { passed = $3 }
    NF == 3 && $2 == "fail" { failed = $3 }
    NF == 3 && $2 == "cancelled" { cancelled = $3 }
    END { print passed + 0, failed + cancelled }'
}

# The line "Tests  2 failed | 9 passed | 1 skipped (12)" of the report.
count_vitest() {
  awk '
    $1 == "Tests" {
      for (i = 2; i < NF; i++) {
        if ($(i + 1) == "passed") passed = $i
        if ($(i + 1) == "failed") failed = $i
      }
    }
    END { print passed + 0, failed + 0 }'
}

# The last line, as in "2 failed, 9 passed, 1 error in 3.21s".
count_pytest() {
  awk '
    / in [0-9.]+s/ && /passed|failed|error/ { line = $0 }
    END {
      gsub(/=/, "", line)
      parts = split(line, part, ",")
      for (i = 1; i <= parts; i++) {
        count = part[i] + 0
        if (part[i] ~ /passed/) passed += count
        if (part[i] ~ /failed|error/) failed += count
      }
      print passed + 0, failed + 0
    }'
}

# The lines "2 failed", "1 flaky", "1 interrupted" and "9 passed (1.2m)" of the report, each on its own.
count_playwright() {
  awk '
    $1 ~ /^[0-9]+$/ && $2 == "passed" && (NF == 2 || $3 ~ /^\(/) { passed = $1 }
    $1 ~ /^[0-9]+$/ && NF == 2 && ($2 == "failed" || $2 == "interrupted") { failed += $1 }
    END { print passed + 0, failed + 0 }'
}
