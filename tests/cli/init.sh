#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `init` lists its kinds. Each scenario that it writes passes `check` and runs by its own
# commands. It never overwrites a file. Bad input ends with exit code 2 and leaves nothing.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

# refused TEXT ARGUMENTS: exit code 2, and TEXT on standard error
refused() {
  local text=$1 output status
  shift
  output=$("$hcasim" init "$@" 2>&1 >/dev/null)
  status=$?
  [ $status -eq 2 ] && [[ $output == *"$text"* ]] ||
    fail "init $*: exit code $status, expected 2 and \"$text\": $output"
}

kinds=$("$hcasim" init --words) || fail "init --words: exit code $?"
[ "$kinds" = $'adapter\nfabric\nmpi\nprograms' ] || fail "kinds: $kinds"
[ "$("$hcasim" init | grep -c '^  [a-z]* *[A-Z].*\.$')" = 4 ] ||
  fail "init does not describe four kinds: $("$hcasim" init)"

for kind in $kinds; do
  "$hcasim" init "$kind" >said || fail "init $kind: exit code $?"
  grep -q "^$kind.yaml: " said || fail "init $kind does not name its file: $(cat said)"
  "$hcasim" check "$kind.yaml" || fail "$kind.yaml does not pass check"
  "$hcasim" init "$kind" - | cmp - "$kind.yaml" || fail "init $kind -: other bytes"
  refused "$kind.yaml exists" "$kind"
done
for kind in adapter fabric; do
  "$hcasim" run "$kind.yaml" >said 2>&1 || fail "$kind.yaml does not run: $(tail -3 said)"
done
command=$(sed -n "s/^# *hcasim \(run mpi.yaml .*}'\).*/\1/p" mpi.yaml)
eval "\"$hcasim\" $command" >said 2>&1 || fail "mpi.yaml: hcasim $command: $(tail -3 said)"
if command -v smpicc >/dev/null && [ -e "$(dirname "$hcasim")/../lib/libhcasim-smpi.so" ]; then
  smpicc -O2 -o program "$2/tests/mpi/talk.c" &&
    "$hcasim" mpi mpi.yaml --np 16 -- ./program ring >said 2>&1 ||
    fail "mpi.yaml: hcasim mpi: $(tail -3 said)"
fi

"$hcasim" init fabric other.yaml >said && sed '/^#/s/fabric\.yaml/other.yaml/g' fabric.yaml | cmp - other.yaml || fail "init fabric other.yaml"
[ "$(grep -c 'hcasim .* other.yaml' other.yaml)" -eq 3 ] || fail "the comments of other.yaml name another file: $(head -6 other.yaml)"
refused 'did you mean fabric?' fabrik
refused 'hcasim init lists them' elephant
refused 'No such file or directory' fabric absent/other.yaml
refused 'unexpected argument' fabric one two
[ ! -e elephant.yaml ] && [ ! -e fabrik.yaml ] || fail 'a refused kind left a file'
output=$("$hcasim" init fabric - 2>&1 >/dev/full)
[ $? -eq 2 ] && [[ $output == *'standard output: No space left on device'* ]] || fail "full: $output"
exit $((failures > 0))
