#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the completions of tools/ for bash and zsh. They complete verbs, options of a verb, keys of
# a scenario after --set, engines, and lists of parameters. They also complete blocks with counters,
# published rows, files, and programs after --. Arguments: the hcasim program, the top of the source
# tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
as_a_user
. "$top/tools/hcasim-completion.bash"
cp "$top/scenarios/two-hosts-ib.yaml" .

# completes WORD... LAST EXPECTED: the completions of the last word contain EXPECTED. All
# completions begin with the last word
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

# The same in zsh, whose compadd gets all words and drops those that do not begin with the word.
zsh_offers() {
  local expected=${*: -1}
  zsh -f -c 'file=$1; shift
    words=("${@}") CURRENT=$#
    compadd() {
      while [[ $1 == -* ]]; do
        [[ $1 == -a ]] && { print -l -- ${(P)2}; return; }
        [[ $1 == -S ]] && shift
        shift
      done
      print -l -- "$@"
    }
    _files() { print -l -- *; }
    _command_names() { print -l -- ${(k)commands}; }
    . "$file"' zsh "$top/tools/hcasim-completion.zsh" "${@:1:$#-1}" >offered 2>&1
  grep -qxe "$expected" offered || fail "zsh: ${*:1:$#-1}: no $expected in $(head -n 5 offered)"
}
if command -v zsh >/dev/null; then
  zsh_offers hcasim '' run
  zsh_offers hcasim help '' explain
  zsh_offers hcasim run --eng --engine
  zsh_offers hcasim exec two-hosts-ib.yaml --engine '' systemc-reference
  zsh_offers hcasim exec two-hosts-ib.yaml --set hosts.host0 hosts.host0.hca.pcie.lanes
  zsh_offers hcasim counters '' metrics
  zsh_offers hcasim fit '' B1-01
  zsh_offers hcasim run '' two-hosts-ib.yaml
  zsh_offers hcasim exec two-hosts-ib.yaml -- host0: '' seq
fi

# Each completed key can be set to its current value.
hcasim check two-hosts-ib.yaml --words >keys || fail "check --words: exit code $?"
[ "$(sort keys | uniq -d | wc -l)" = 0 ] || fail "keys twice: $(sort keys | uniq -d)"
hcasim check two-hosts-ib.yaml --effective >before || fail "check --effective: exit code $?"
for key in seed hosts.host1.hca.pcie.lanes fabric.topology cpu.clock_read; do
  grep -qx "$key" keys || fail "no key $key"
done
hcasim check two-hosts-ib.yaml --set hosts.host1.hca.pcie.lanes=16 --effective | cmp - before || fail "the same value, another scenario"
exit $((failures > 0))
