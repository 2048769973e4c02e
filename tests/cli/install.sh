#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that an installation stands alone, from an empty folder: README's scenarios are found by README's names, published rows find
# what they name, programs run, completion and the manual page are there, and a congestion-control plug-in and a SystemC module compile
# against the installed headers and run. Arguments: the hcasim program, the top of the source tree.
build=$(dirname "$(dirname "$(realpath "$1")")")
source=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
[ -f "$build/cmake_install.cmake" ] || exit 77

# What a packager types first: warnings of another compiler stop nothing, asserts stay, and -O3 has no warning of its own.
cmake -S "$source" -B "$folder/plain" -DCMAKE_BUILD_TYPE=Release >"$folder/log" 2>&1 || fail "cmake: $(tail -n 5 "$folder/log")"
python3 - "$folder/plain/compile_commands.json" <<'END' || fail "the plain Release build is not as expected"
import json, subprocess, sys
lines = {entry["file"]: entry for entry in json.load(open(sys.argv[1]))}
assert not [entry for entry in lines.values() if "-Werror" in entry["command"] or "NDEBUG" in entry["command"]]
names = [entry for name, entry in lines.items() if name.endswith("/fabric/netfile.c")]
command = names[0]["command"]
assert "-O3" in command, command
subprocess.run(command + " -Werror -o /dev/null", shell=True, check=True, cwd=names[0]["directory"])
END

# The prefix is not the one of the configuration, and the whole tree moves afterwards.
cmake --install "$build" --prefix "$folder/first" >"$folder/log" 2>&1 || { fail "cmake --install: $(tail -n 5 "$folder/log")"; exit 1; }
mv "$folder/first" "$folder/usr"
prefix=$folder/usr
share=$prefix/share/hcasim
PATH=$prefix/bin:$PATH
mkdir "$folder/work"
cd "$folder/work" || exit 1
[ -z "$(find "$prefix" -type l -lname '/*')" ] || fail "absolute links: $(find "$prefix" -type l -lname '/*')"

works() {
  "$@" >"$folder/out" 2>"$folder/errors" || fail "$*: exit code $?: $(tail -n 3 "$folder/out" "$folder/errors")"
}

# Every scenario, by the name that README and the pages use.
for file in "$source"/scenarios/*.yaml "$source"/scenarios/studies/*.yaml; do
  works hcasim check "${file#"$source"/}"
done
# Whatever a published row names is there.
grep -ho '[a-z0-9./-]*/[a-z0-9-]*\.\(yaml\|csv\)' "$share"/scenarios/published/*.yaml | sort -u >"$folder/names"
[ "$(wc -l <"$folder/names")" -ge 40 ] || fail "published rows name $(wc -l <"$folder/names") files"
while read -r name; do
  [ -f "$share/scenarios/published/$name" ] || [ -f "$share/$name" ] || fail "published rows name $name"
done <"$folder/names"
works hcasim published F-01 C-21 # of a standard; of a study
grep -q '2 rows: 2 pass' "$folder/out" || fail "published: $(cat "$folder/out")"

# A row of one's own.
cp "$share/scenarios/published/C-01.yaml" own.yaml
works hcasim published own.yaml
grep -q '^1 rows: 1 pass' "$folder/out" || fail "published own.yaml: $(cat "$folder/out")"

works hcasim run scenarios/studies/incast-dcqcn.yaml --out incast
[ -f incast/summary.json ] || fail "no result"
works hcasim run scenarios/studies/qp-scaling.yaml --out qps --set load.operations=2000 --set load.warm_up=500
works hcasim explain qps --bottleneck
if command -v ib_write_lat >/dev/null; then
  works hcasim exec scenarios/two-hosts-ib.yaml --trace run.trace --pcap run.pcapng -- host0: ib_write_lat -s 8 -n 100 : host1: ib_write_lat -s 8 -n 100 host0
  grep -q '^host1| *8  *100  *0\.90 ' "$folder/out" || fail "ib_write_lat: $(cat "$folder/out")"
  works hcasim explain run.trace --percentile 50
  works hcasim decode run.pcapng
  works hcasim exec scenarios/two-hosts-ib.yaml -- host0: hcasim-ssh host1 hostname
  grep -q '^host0| host1$' "$folder/out" || fail "hcasim-ssh: $(cat "$folder/out")"
fi

# What README names beside the command.
. "$prefix/share/bash-completion/completions/hcasim"
COMP_WORDS=(hcasim com) COMP_CWORD=1
_hcasim
[[ " ${COMPREPLY[*]} " == *" compare "* ]] || fail "completion: ${COMPREPLY[*]}"
for page in $(grep -o '(docs/[A-Za-z_/-]*\.md' "$prefix/share/doc/hcasim/README.md" | tr -d '('); do
  [ -f "$prefix/share/doc/hcasim/$page" ] || fail "README names $page"
done
for page in man1/hcasim.1 man1/hcasim-sweep.1 man5/hcasim-scenario.5 man5/hcasim-result.5; do
  [ -s "$prefix/share/man/$page" ] || fail "no manual page $page"
done

# A plug-in, by the command of docs/explanation/fabric-studies.md, and a module, by that of docs/explanation/systemc.md.
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name hcasim.pc)")
export PKG_CONFIG_PATH
examples=$prefix/share/doc/hcasim/examples
works gcc -std=gnu11 -O2 -fPIC -shared $(pkg-config --cflags hcasim) "$examples/halve.c" -o halve.so
works hcasim run scenarios/studies/incast-dcqcn.yaml --set hosts.hca.congestion=./halve.so --until 200us --set expect=[]
cat >borders.cpp <<'END'
#include "hca/module/examples/tlm_dma.h"
#include "hca/module/examples/tlm_scheduler.h"
#include "hca/module/examples/translation_cache.h"
END
works g++ -std=c++17 -fsyntax-only $(pkg-config --cflags hcasim systemc) borders.cpp
works g++ -std=c++17 -O0 -fPIC -shared $(pkg-config --cflags hcasim) "$examples/tlm_flat.cpp" -o my_unit.so $(pkg-config --cflags --libs systemc)
few=(--set load.operations=200 --set load.warm_up=50 --set expect=[])
works hcasim run scenarios/studies/qp-scaling.yaml "${few[@]}" --set hosts.hca.translation.module=./my_unit.so
cp "$folder/out" own
works hcasim run scenarios/studies/qp-scaling.yaml "${few[@]}" --set hosts.hca.translation.module=tlm_flat
cmp own "$folder/out" || fail "the module that was compiled here gives other figures than the installed one"
exit $((failures > 0))
