#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that the completion of tools/hcasim-completion.bash knows verbs, options of a verb, keys of a scenario behind --set, engines,
# lists of parameters, blocks that count, published rows, files, and programs behind --.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
as_a_user
. "$top/tools/hcasim-completion.bash"
cp "$top/scenarios/two-hosts-ib.yaml" .

# completes WORD... LAST EXPECTED: among what is offered for the last word is EXPECTED, and nothing that does not begin with it
completes() {
  local expected=${*: -1} reply found=0
  COMP_WORDS=("${@:1:$#-1}")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _hcasim
  for reply in "${COMPREPLY[@]}"; do
    [[ $reply == "${COMP_WORDS[COMP_CWORD]}"* ]] || fail "${COMP_WORDS[*]}: $reply is offered"
    [[ $reply == "$expected" ]] && found=1
  done
  [ $found = 1 ] || fail "${COMP_WORDS[*]}: no $expected in ${COMPREPLY[*]}"
}
completes hcasim '' run
completes hcasim com compare
completes hcasim help exp explain
completes hcasim run --eng --engine
completes hcasim compare --js --json
completes hcasim exec two-hosts-ib.yaml --engine systemc-r systemc-reference
completes hcasim exec two-hosts-ib.yaml --set hosts.host0.hca.pcie.la hosts.host0.hca.pcie.lanes=
completes hcasim check two-hosts-ib.yaml --set se seed=
completes hcasim params hca.pc hca.pcie
completes hcasim counters wqe wqe_fetch
completes hcasim counters met metrics
completes hcasim published A1-0 A1-01
completes hcasim published D-10 --fu --full
completes hcasim fit B1 B1-01
completes hcasim run two two-hosts-ib.yaml
completes hcasim exec two-hosts-ib.yaml -- host0: seq seq

# Each key that is offered can be set to what it is.
hcasim check two-hosts-ib.yaml --words >keys || fail "check --words: exit code $?"
[ "$(sort keys | uniq -d | wc -l)" = 0 ] || fail "keys twice: $(sort keys | uniq -d)"
hcasim check two-hosts-ib.yaml --effective >before || fail "check --effective: exit code $?"
for key in seed hosts.host1.hca.pcie.lanes fabric.topology cpu.clock_read; do
  grep -qx "$key" keys || fail "no key $key"
done
hcasim check two-hosts-ib.yaml --set hosts.host1.hca.pcie.lanes=16 --effective | cmp - before || fail "the same value, another scenario"
exit $((failures > 0))
