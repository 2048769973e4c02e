#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that an installation works from an empty folder. README's scenarios are found by name,
# published rows find their files, and programs run. Completion and the manual page are present. A
# congestion-control plug-in and a SystemC module compile against the installed headers and run.
# Arguments: the hcasim program, the top of the source tree.
build=$(dirname "$(dirname "$(realpath "$1")")")
source=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
[ -f "$build/cmake_install.cmake" ] || exit 77

# Options of packagers: warnings of another compiler do not stop the build, asserts remain, and -O3
# has no warnings.
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

# The prefix differs from the configured one, and the whole tree is moved after the installation.
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
for file in "$source"/scenarios/*.yaml "$source"/scenarios/{clusters,lessons,studies}/*.yaml; do
  works hcasim check "${file#"$source"/}"
done
# All files that a published row names are installed.
grep -ho '[a-z0-9./-]*/[a-z0-9-]*\.\(yaml\|csv\)' "$share"/scenarios/published/*.yaml | sort -u >"$folder/names"
[ "$(wc -l <"$folder/names")" -ge 40 ] || fail "published rows name $(wc -l <"$folder/names") files"
while read -r name; do
  [ -f "$share/scenarios/published/$name" ] || [ -f "$share/$name" ] || fail "published rows name $name"
done <"$folder/names"
works hcasim published F-01 C-21 # of a standard; of a study
grep -q '2 rows: 2 pass' "$folder/out" || fail "published: $(cat "$folder/out")"

# A published row may be in a file of the user.
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

# Files that README names besides the command.
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
[ -s "$prefix/share/zsh/vendor-completions/_hcasim" ] || fail "no completion for zsh"
for kind in $(hcasim plugin --words); do
  works hcasim plugin new "$kind" "own_$kind"
  works hcasim plugin build "own_$kind.c"
done
works hcasim plugin build "$share/scenarios/plugins/powertcp.c"
works gcc -std=gnu11 -O2 -fPIC -shared $(pkg-config --cflags hcasim) "$examples/halve.c" -o halve.so
works hcasim run scenarios/studies/incast-dcqcn.yaml --set hosts.hca.congestion=./halve.so --until 200us --set expect=[]
cat >borders.cpp <<'END'
#include "hcasim/modules.h"
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

# The library, by the commands of docs/how-to/use-the-library.md: from C by pkg-config and by CMake, from C++, and from Python.
libraries=$(dirname "$(find "$prefix" -name libhcasim.so.0)")
nm -D --defined-only "$libraries/libhcasim.so.0" | awk '{ print $3 }' | sed 's/@.*//' | grep -v -e '^hcasim_[a-z_]*$' -e '^sc_main$' -e '^HCASIM_0$' -e '^__asan' &&
  fail "libhcasim.so.0 exports these"
readelf -d "$libraries/libhcasim.so.0" | grep -q 'SONAME.*\[libhcasim\.so\.0\]' || fail "no soname"
for header in "$prefix"/include/hcasim/*.h; do # each alone, in C and C++
  echo "#include \"hcasim/$(basename "$header")\"" >one.c
  works gcc -std=gnu11 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags hcasim) one.c
  works g++ -std=c++17 -fsyntax-only $(pkg-config --cflags hcasim) -x c++ one.c
done
if ! grep -q '^HCASIM_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  export LD_LIBRARY_PATH=$libraries
  works cc -Wall -Werror "$examples/step.c" $(pkg-config --cflags --libs hcasim) -o step
  works ./step
  grep -q '^goodput [0-9.]* Gb/s' "$folder/out" || fail "step: $(cat "$folder/out")"
  cp "$folder/out" step.out
  works python3 "$examples/step.py" dcqcn-paper
  goodput=$(python3 -c 'import json; print("%.2f" % json.load(open("incast/summary.json"))["metrics"]["goodput_gbps"])')
  grep -q "goodput $goodput" "$folder/out" || fail "step.py: $(cat "$folder/out"); expected $goodput Gb/s"
  python3 "$examples/step.py" no_such_algorithm 2>errors && fail "step.py takes no_such_algorithm"
  grep -q 'no congestion control `no_such_algorithm`' errors || fail "step.py: $(cat errors)"
  mkdir project
  cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(step C)
find_package(hcasim 0.2 REQUIRED)
add_executable(step "$examples/step.c")
target_link_libraries(step PRIVATE hcasim::hcasim)
END
  works cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$prefix"
  works cmake --build project/build
  works project/build/step
  cmp step.out "$folder/out" || fail "the program that CMake built prints something else"
fi
exit $((failures > 0))
