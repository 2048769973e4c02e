#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim report` writes pages that a browser shows without an error: for a run of a
# fabric, of a load, of programs, for a sweep and for two runs. Every picture has a drawing, the
# slider moves, no page makes an external request, and a name with HTML in it stays text. Widths:
# 1280 and 390 pixels. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
top=$2
. "$(dirname "$0")/../support/script.sh"

cat >"$folder/study.yaml" <<'EOF2'
hosts: {count: 0, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric:
  link_layer: roce
  topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts: 4, uplink_rate: 40Gbps}
  switch: {balance: ecmp, ecn: {mark: enqueue}}
  link: {rate: 100Gbps}
workload: {pattern: poisson, sizes: web_search, offered_load: 0.8, arrivals_until: 500us}
record: {series: 10us, series_ports: ["*"]}
expect: [{metric: jain, at_least: 0.01}, {metric: goodput_gbps, at_most: 1}]
sweep: {fabric.switch.balance: [ecmp, spray], workload.offered_load: [0.2, 0.4], seed: {from: 1, to: 2, step: 1}}
EOF2
cat >"$folder/load.yaml" <<'EOF2'
hosts: {count: 2, hca: connectx5-edr}
fabric: {link_layer: infiniband, topology: back-to-back}
load: {bytes: 64B, threads: 2, warm_up: 100, operations: 300}
record: {trace: ["*.latency"]}
EOF2
cd "$folder" || exit 1
"$hcasim" run study.yaml --out fabric >/dev/null 2>&1
[ $? -eq 1 ] || fail "run: no exit code 1, though an expectation is not met"
"$hcasim" sweep study.yaml -j 2 --out sweep >/dev/null 2>&1 || fail "sweep: exit code $?"
"$hcasim" run load.yaml --out load >/dev/null 2>&1 || fail "load: exit code $?"
"$hcasim" run load.yaml --set hosts.hca.pcie.lanes=4 --out narrow >/dev/null 2>&1 || fail "narrow: exit code $?"
cp -r fabric hostile
sed -i 's/host0\.hca/<\/script><script>boom()<\/script><!--\&host0.hca/g' hostile/links.csv

# report OUT TEXT ARGUMENT...: a page below 3 MB with that text, complete in itself
report() {
  local out=$1 text=$2
  shift 2
  "$hcasim" report "$@" --out "$out" 2>log || fail "report $*: $(cat log)"
  [ "$(stat -c %s "$out")" -lt 3000000 ] || fail "$out: $(stat -c %s "$out") bytes"
  grep -qF -- "$text" "$out" || fail "$out: without $text"
  ! grep -qE '(src|href|action)="?(https?:)?//' "$out" || fail "$out: asks for something outside itself"
}
report fabric.html '"not met"' fabric
"$hcasim" run "$top/scenarios/studies/m-d-1.yaml" --until 2ms --out row >/dev/null 2>&1
report row.html '"Published figures"' row
grep -qF 'hcasim published F-05 runs all cases' row.html || fail "row.html: without the row"
"$hcasim" run study.yaml --set 'workloads={left: {pattern: shift}, right: {pattern: incast}}' --set 'expect=[]' --out several >/dev/null 2>&1 || fail "several workloads: exit code $?"
report several.html '["right","' several
! grep -qF '"Published figures"' fabric.html || fail "fabric.html: published figures without a row"
report load.html 'The work request of median latency' load
report sweep.html '95 % confidence' sweep --figures pictures
report sweep.html 'Mean slowdown by flow size' sweep --figures again
[ -s again/bins-slowdown_mean.svg ] || fail "no picture of bins: $(ls again)"
# The figures of flows are those of hcasim stats, with their digits: of a run, and of each group.
# rows < TEXT OF STATS: the cells of each group
rows() {
  sed -nE 's/^  (mean|p50|p95|p99|p999) (mean )?//; T; s/ \([0-9]+ batches.*//; s/^unknown: .*/unknown/; p' | paste -sd'\t\t\t\t\n' | sed 's/\t/","/g; s/.*/"&"/'
}
for metric in fct_us slowdown; do
  "$hcasim" stats fabric --metric $metric | rows >fabric.rows
  "$hcasim" stats sweep --metric $metric | rows >sweep.rows
  [ "$(wc -l <fabric.rows) $(wc -l <sweep.rows)" = '1 4' ] || fail "stats: $(cat fabric.rows sweep.rows)"
  for page in fabric sweep; do
    while read -r cells; do
      grep -qF -- "$cells" $page.html || fail "$page.html has not $cells"
    done <$page.rows
  done
done
grep -qE '" *[0-9.e+]+ \+- [0-9.e+]+"' sweep.html || fail "sweep.html: no interval"
report compare.html 'hosts.hca.pcie.lanes' load narrow/
report hostile.html 'u003c/script>' hostile
! grep -qF '<script>boom' hostile.html || fail "hostile.html: a name became a script"
pages="fabric load sweep compare hostile"
if command -v ib_write_lat >/dev/null &&
  "$hcasim" exec "$top/scenarios/two-hosts-ib.yaml" --out programs -- host0: ib_write_lat -n 10 : host1: ib_write_lat -n 10 host0 >/dev/null 2>&1; then
  report programs.html 'PROGRAM ARGS' programs
  pages+=" programs"
fi
for picture in goodput_gbps sizes fct; do
  ! command -v gnuplot >/dev/null || [ -s pictures/$picture.svg ] || fail "no $picture.svg among $(ls pictures)"
done
"$hcasim" report fabric --figures none/there >log 2>&1 && fail "a folder that cannot be made is accepted"
"$hcasim" report fabric --metric jain >log 2>&1 && fail "--metric of a run is accepted"
"$hcasim" report load sweep >log 2>&1 && fail "a run beside a sweep is accepted"
grep -q 'is not a result folder' log || fail "$(cat log)"
[ $failures -eq 0 ] || exit 1

command -v chromium >/dev/null || exit 77

# All pages at once, each in frames of both widths. A frame cannot read another frame, so each
# reports its contents.
cat >probe.html <<'EOF2'
<script>
addEventListener("error", event => { window.failed = event.message; });
addEventListener("securitypolicyviolation", event => { window.failed = event.blockedURI; });
addEventListener("load", () => setTimeout(() => {
  const drawn = place => place.querySelector(".bar") || (canvas => {
    if (!canvas || !canvas.width) return false;
    const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return bytes.some(byte => byte > 0);
  })(place.querySelector("canvas"));
  const places = [...document.querySelectorAll(".plot")];
  const slider = document.querySelector("input[type=range]"), output = document.querySelector("output");
  let moved = "none";
  if (slider) {
    const before = output.textContent, colours = () => [...document.querySelectorAll(".topology path")].map(p => p.style.stroke).join();
    const first = colours();
    slider.value = 30;
    slider.dispatchEvent(new Event("input"));
    moved = before !== output.textContent && first !== colours() ? "moved" : "stuck";
  }
  parent.postMessage([location.pathname.split("/").pop(), innerWidth, "charts", places.length, "empty",
    places.filter(place => !drawn(place)).map(place => place.parentElement.id).join() || "none", "slider", moved,
    "wide", document.documentElement.scrollWidth > innerWidth ? "too" : "no",
    "asked", performance.getEntriesByType("resource").length, "error", window.failed || "none"].join(" "), "*");
}, 200));
</script>
EOF2
{
  echo '<pre id="told"></pre><script>addEventListener("message", event => { told.append(event.data + "\n"); });</script>'
  for page in $pages; do
    sed "/<title>/r probe.html" $page.html >$page-probe.html
    for width in 1280 390; do
      echo "<iframe style='width:${width}px;height:900px' src='$page-probe.html'></iframe>"
    done
  done
} >all.html
timeout 200 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$folder/browser" --enable-logging=stderr --window-size=1400,1000 \
  --virtual-time-budget=4000 --dump-dom "file://$folder/all.html" >told 2>errors
grep -q CONSOLE errors && fail "$(grep CONSOLE errors)"
for page in $pages; do
  for width in 1280 390; do
    line=$(grep "$page-probe.html $width " told)
    [ -n "$line" ] || fail "$page, $width px: nothing shown: $(tail -3 errors)"
    grep -qE 'charts [1-9][0-9]* empty none slider (none|moved) wide no asked 0 error none$' <<<"$line" || fail "$line"
  done
done
grep -q 'fabric-probe.html 1280 charts 1[0-9] .* slider moved' told || fail "the fabric's page: $(grep fabric-probe told)"
[ $failures -eq 0 ]
