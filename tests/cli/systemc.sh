#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a module named in YAML does not change the bytes of a run with an unmodified program if
# it is configured as the built-in block: counters, packets, trace, summary. Errors of a module are
# reported with its line and exit code 2. Waveforms end with the values of the counters, are the
# same on both engines, and can be read by GTKWave's converter. Arguments: the hcasim program, the
# top of the source tree. Exit code 77: the program is not installed.
hcasim=$1
top=$2
command -v ibv_rc_pingpong >/dev/null || exit 77
modules=$(dirname "$hcasim")/../lib/hcasim
. "$(dirname "$0")/../support/script.sh"

# scenario NAME BLOCKS: of two hosts, the first with these keys in its adapter
scenario() {
  cat >"$folder/$1.yaml" <<END
hosts:
  host0:
    hca:
      preset: connectx4-edr
      $2
  host1: {hca: connectx4-edr}
fabric: {link_layer: infiniband, topology: back-to-back, link: cable-edr}
record: {packets: true, trace: ["*"]}
END
}

programs=(-- host0: ibv_rc_pingpong -c -n 50 -g 0 : host1: ibv_rc_pingpong -c -n 50 -g 0 host0)

# run NAME SCENARIO OPTIONS...
run() {
  local name=$1 file=$2
  shift 2
  "$hcasim" exec "$folder/$file.yaml" --out "$folder/$name" "$@" "${programs[@]}" >"$folder/$name.out" 2>"$folder/$name.err" ||
    fail "$name: exit code $?: $(cat "$folder/$name.out" "$folder/$name.err" | tail -n 8)"
}

# same NAME OTHER: compares all results of two runs, except the module's name
same() {
  for file in counters.json packets.pcapng trace.bin summary.json; do
    cmp "$folder/$1/$file" "$folder/$2/$file" || fail "$1 and $2 differ in $file"
  done
}

# refuse TEXT ARGUMENTS...
refuse() {
  local text=$1 output status
  shift
  output=$("$hcasim" "$@" 2>&1)
  status=$?
  if [ $status -ne 2 ] || [[ $output != *"$text"* ]]; then
    fail "hcasim $*: exit code $status, expected 2 and \"$text\": $output"
  fi
}

scenario built-in ''
run built-in built-in
for module in "$modules"/*_cache.so; do
  name=$(basename "$module" .so)
  scenario "$name" "translation: {module: $name}"
  run "$name" "$name"
  grep -q 'a module replaces host0.hca.translation, so the run uses --engine systemc' "$folder/$name.err" || fail "$name: not said"
  same "$name" built-in
  run "$name-again" "$name" --engine systemc-reference
  same "$name-again" built-in
done

# All three blocks by modules, on both hosts.
scenario all 'translation: {module: tlm_cache}'
sed -i 's/      translation: .*/      translation: {module: tlm_cache}\n      scheduler: {module: tlm_round_robin}\n      dma: {module: tlm_engine}/' "$folder/all.yaml"
sed -i 's/  host1: .*/  host1: {hca: {preset: connectx4-edr, dma: {module: tlm_engine}, scheduler: {module: tlm_round_robin}}}/' "$folder/all.yaml"
run all all
same all built-in

# The effective configuration reads back, and names the module.
"$hcasim" check "$folder/tlm_cache/scenario.yaml" || fail 'the effective configuration does not read back'
grep -q 'module: ".*/lib/hcasim/tlm_cache.so"' "$folder/tlm_cache/scenario.yaml" || fail 'the module is not in it'

# A path is relative to the file. Errors of modules are reported.
cp "$modules/tlm_flat.so" "$folder/mine.so"
scenario path 'translation: {module: ./mine.so}'
run path path
scenario missing 'translation: {module: tlm_cahe}'
refuse 'missing.yaml:5:29: no module "tlm_cahe" for translation' check "$folder/missing.yaml"
printf 'int nothing;\n' | ${CC:-cc} -shared -o "$folder/none.so" -x c - || fail 'cc'
scenario other 'dma: {module: tlm_cache}'
refuse 'other.yaml:5:21: ' check "$folder/other.yaml"
refuse 'exports no hca_dma_module' check "$folder/other.yaml"
scenario none 'translation: {module: ./none.so}'
refuse 'none.yaml:5:29: ' check "$folder/none.yaml"
refuse 'exports no hca_translation_module' check "$folder/none.yaml"
printf 'const unsigned hca_translation_module[16] = {999, 8};\n' | ${CC:-cc} -shared -o "$folder/old.so" -x c - || fail 'cc'
scenario old 'translation: {module: ./old.so}'
refuse 'old.yaml:5:29: ' check "$folder/old.yaml"
refuse 'is for version 999 of the interface' check "$folder/old.yaml"
printf 'not a library\n' >"$folder/text.so"
scenario text 'translation: {module: ./text.so}'
refuse 'text.yaml:5:29: cannot be loaded' check "$folder/text.yaml"
scenario random 'translation: {module: tlm_cache}, mtt: {replacement: random}'
sed -i 's/      translation: {module: tlm_cache}, /      translation: {module: tlm_cache}\n      /' "$folder/random.yaml"
refuse 'random.yaml:4:7: mpt and mtt can only have replacement: lru' check "$folder/random.yaml"
refuse '--engine native cannot run modules' exec "$folder/tlm_cache.yaml" --engine native "${programs[@]}"

# A table of C functions is enough for a module. A module that answers in the past is reported.
cat >"$folder/past.c" <<'END'
#include "hca/context/translation_module.h"
static struct translation_setup setup;
static void *create(const struct translation_setup *given) { setup = *given; return &setup; }
static void destroy(void *module) { (void)module; }
static void request(void *module, struct translation *request, sim_time ahead)
{
	(void)module, (void)ahead;
	setup.services->respond(setup.adapter, request, 1);
}
static void fetched(void *module, struct translation_fetch *fetch, sim_time ahead) { (void)module, (void)fetch, (void)ahead; }
static void invalidate(void *module, enum translation_cache cache, uint64_t first, uint64_t count)
{
	(void)module, (void)cache, (void)first, (void)count;
}
const struct translation_module hca_translation_module = {{MODULE_VERSION_TRANSLATION, sizeof(struct translation_module), "past", ""},
	NULL, create, destroy, request, fetched, invalidate, NULL};
END
${CC:-cc} -std=gnu11 -fPIC -shared -I "$top" -I "$top/include" -o "$folder/past.so" "$folder/past.c" || fail 'cc'
scenario past 'translation: {module: ./past.so}'
refuse 'the module that replaces host0.hca.translation uses a past time, 1 ps, at' exec "$folder/past.yaml" "${programs[@]}"

sed 's/setup.services->respond(.*/__builtin_trap();/' "$folder/past.c" >"$folder/trap.c"
${CC:-cc} -std=gnu11 -fPIC -shared -I "$top" -I "$top/include" -o "$folder/trap.so" "$folder/trap.c" || fail 'cc'
scenario trap 'translation: {module: ./trap.so}'
refuse 'host0.hca.translation: the module that replaces it crashed (SIGILL)' exec "$folder/trap.yaml" "${programs[@]}"

# The other borders refuse wrong values from a module. Each module is the built-in block with one
# line changed. wrong BLOCK TABLE SOURCE LINE MESSAGE
wrong() {
  sed "$4" "$top/hca/work/$3.c" >"$folder/$1.c"
  cmp -s "$top/hca/work/$3.c" "$folder/$1.c" && fail "$4 changes nothing in $3.c"
  ${CC:-cc} -std=gnu11 -fPIC -shared -I "$top" -I "$top/include" -D"$2=hca_$1_module" -o "$folder/$1.so" "$folder/$1.c" "$top/hca/formats/wqe.c" || fail 'cc'
  scenario "$1" "$1: {module: ./$1.so}"
  refuse "the module that replaces host0.hca.$1 $5" exec "$folder/$1.yaml" "${programs[@]}"
}
decoder=(doorbell doorbell_decoder doorbell_decoder)
wrong "${decoder[@]}" 's/length = decoded->length/length = 9/' 'executes a command of a wrong length'
wrong "${decoder[@]}" 's/decoder->setup.services->due_at(.*/&&/' 'requests due() while a call of due() is outstanding'
wrong "${decoder[@]}" 's/if (is_full(decoder))/if (true)/' 'refuses a store without an outstanding due()'
wrong "${decoder[@]}" 's/due_at(decoder->setup.doorbell, due)/due_at(decoder->setup.doorbell, 1)/' 'uses a past time, 1 ps, at'
plan=(wqe_fetch wqe_fetch_plan wqe_fetch_plan)
export MLX5_SHUT_UP_BF=1 # doorbells without a WQE
wrong "${plan[@]}" 's/? queue->room : 0/? queue->room + 1 : 0/' 'reads more blocks than `room`'
wrong "${plan[@]}" 's/? queue->room : 0/? 0 : 0/' 'reads no blocks while no block of the queue is staged'
wrong "${plan[@]}" 's/? 1 : UINT32_MAX/? 1 : 0/' 'parses no WQE'
wrong "${plan[@]}" 's/	return at;/	return 1;/' 'uses a past time, 1 ps, at'
unset MLX5_SHUT_UP_BF
pipeline=(completion completion_pipeline completion_pipeline)
wrong "${pipeline[@]}" 's/if (!pipeline->granted) {/if (false) {/' 'puts a CQE without a grant'
wrong "${pipeline[@]}" 's/	services->put(writer, entry);/&&/' 'puts a CQE out of order'
wrong "${pipeline[@]}" 's/sim_time grant = services/services->grant(writer, entry);&/' 'requests a second grant'

# Waveforms.
command -v python3 >/dev/null || exit $((failures > 0))
waveform() {
  local name=$1
  shift
  run "$name" "$@" --vcd "$folder/$name.vcd" --signals 'host0.hca.translation*,host1.hca.scheduler.*'
  python3 "$top/tests/cli/vcd_check.py" "$folder/$name.vcd" "$folder/$name/counters.json" 30 >"$folder/$name.signals" ||
    fail "$name: the waveform is not as it should be"
  same "$name" built-in
}
waveform counters built-in
grep -q ' pending_level ' "$folder/counters.vcd" || fail 'levels are not in the waveform'
waveform tlm tlm_cache
grep -q ' filled_line ' "$folder/tlm.vcd" || fail 'no signals of the module'
waveform tlm-reference tlm_cache --engine systemc-reference
cmp "$folder/tlm.vcd" "$folder/tlm-reference.vcd" || fail 'waveforms differ between engines'
if [ -e "$modules/verilog_cache.so" ]; then
  waveform verilog verilog_cache
  grep -q 'wire    1 .* clk ' "$folder/verilog.vcd" || fail 'no clock of the RTL'
fi
if command -v vcd2fst >/dev/null; then
  for vcd in "$folder"/*.vcd; do
    vcd2fst "$vcd" "$vcd.fst" >/dev/null && [ -s "$vcd.fst" ] || fail "vcd2fst does not read $vcd"
  done
fi
refuse 'no signal matches --signals nothing' exec "$folder/built-in.yaml" --vcd "$folder/x.vcd" --signals nothing "${programs[@]}"
refuse '--engine native has no waveforms' exec "$folder/built-in.yaml" --vcd "$folder/x.vcd" --engine native "${programs[@]}"
refuse 'add --vcd FILE' exec "$folder/built-in.yaml" --signals '*' "${programs[@]}"
refuse 'cannot be written' exec "$folder/built-in.yaml" --vcd "$folder/none/x.vcd" "${programs[@]}"

# A workload has waveforms, too.
"$hcasim" run "$top/scenarios/studies/incast-queue.yaml" --until 20us --set run.warm_up=0ps --set 'expect=[]' --vcd "$folder/incast.vcd" --signals 'switch0.*' >/dev/null 2>&1
vcd2fst "$folder/incast.vcd" "$folder/incast.fst" >/dev/null 2>&1 || ! command -v vcd2fst >/dev/null || fail 'no waveform of a workload'

[ $failures -eq 0 ] || exit 1
