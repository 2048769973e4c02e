/* drawings: charts of three kinds, and the topology. Curves and maps are drawn by uPlot. */
"use strict";

const report = JSON.parse(document.getElementById("data").textContent);
const charts = []; /* those of uPlot, to draw again in other colours */
const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const scheme = matchMedia("(prefers-color-scheme: dark)");

function make(name, attributes, ...children) {
  const svg = ["svg", "path", "circle", "rect", "text", "title", "g"].includes(name);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
                   : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

/* Black is the colour of text, and the darkest ones are lighter on a dark page. */
function curveColour(curve) {
  const value = report.colours[curve.colour];
  const lighter = {"#000000": "#e4e9ef", "#0072b2": "#3d9bdc", "#882255": "#d0679a",
                   "#5e3c99": "#a58be0", "#009e73": "#23b58b"};
  return scheme.matches && lighter[value] || value;
}

function axisTitle(axis) {
  return axis.label + (axis.unit ? ` (${axis.unit})` : "");
}

function short(value) {
  if (value === null || value === undefined || !isFinite(value)) return "";
  const size = Math.abs(value);
  for (const [limit, letter] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]])
    if (size >= limit) return +(value / (limit === 1e4 ? 1e3 : limit)).toPrecision(4) + letter;
  return String(+value.toPrecision(4));
}

/* ---- text beside the pointer ---- */

const tip = make("div", {id: "tip", hidden: ""});

function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = !text;
  const right = event.clientX > innerWidth / 2;
  tip.style.left = right ? "" : event.clientX + 14 + "px";
  tip.style.right = right ? innerWidth - event.clientX + 14 + "px" : "";
  tip.style.top = Math.min(event.clientY + 14, innerHeight - 90) + "px";
}

function hideTip() {
  tip.hidden = true;
}

/* ---- axes ---- */

/* Powers of ten, with 2 and 5 between them if those are few. */
function logSplits(low, high) {
  const splits = [], few = Math.log10(high / low) < 2.5;
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
    for (const digit of few ? [1, 2, 5] : [1])
      if (digit * 10 ** power >= low && digit * 10 ** power <= high)
        splits.push(digit * 10 ** power);
  return splits;
}

function axis(of, side, size) {
  const result = {
    side, size, label: axisTitle(of), labelSize: 24, labelFont: "13px system-ui, sans-serif",
    font: "12px system-ui, sans-serif", stroke: () => colour("faint"),
    grid: {stroke: () => colour("grid"), width: 1}, ticks: {stroke: () => colour("line"), size: 5},
    values: (plot, splits) => splits.map(short),
  };
  if (of.names.length) {
    result.splits = () => of.names.map((name, place) => place);
    result.values = (plot, splits) => splits.map(place => of.names[place]);
  } else if (of.ticks.length) {
    result.splits = () => of.ticks.slice().sort((a, b) => a - b);
    result.filter = (plot, splits) => splits;
  } else if (of.logarithmic) {
    result.splits = (plot, number, low, high) => logSplits(low, high);
    result.filter = (plot, splits) => splits;
  }
  return result;
}

function range(of, others, slack) {
  return (plot, low, high) => {
    for (const value of others) high = Math.max(high, value);
    if (low === null || high === null) return [0, 1];
    if (of.logarithmic) {
      low = of.least ?? low;
      high = of.most ?? high;
      const step = slack ? Math.max((high / low) ** 0.03, 1.02) : 1;
      return [low / step, high * step];
    }
    const room = slack * ((high - Math.min(low, of.least ?? low)) || Math.abs(high) || 1);
    return [of.least ?? low - room, (of.most ?? high) + room];
  };
}

function zoomed(of, slack) {
  const whole = range(of, [], slack);
  let first = null;
  return (plot, low, high) => {
    first = first || [low, high];
    return first[0] === low && first[1] === high ? whole(plot, low, high) : [low, high];
  };
}

/* ---- curves ---- */

/* All curves over the union of their x. Where a curve has no point there is none to draw. */
function align(chart) {
  const xs = [...new Set(chart.curves.flatMap(curve => curve.x))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, i) => [x, i]));
  const spread = (curve, values) => {
    const row = new Array(xs.length).fill(null);
    curve.x.forEach((x, i) => { row[place.get(x)] = values[i]; });
    return row;
  };
  const rows = [xs];
  for (const curve of chart.curves) {
    rows.push(spread(curve, curve.y));
    if (curve.low) rows.push(spread(curve, curve.high), spread(curve, curve.low));
  }
  return rows;
}

/* The nearest point of the curve, so that the legend has a value for each. */
function nearest(plot, series, index) {
  const values = plot.data[series];
  for (let step = 0; step < values.length; step++)
    for (const at of [index - step, index + step])
      if (values[at] !== null && values[at] !== undefined) return at;
  return index;
}

function drawBelow(chart, plot) {
  const {ctx, bbox} = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = colour("pause");
  ctx.globalAlpha = 0.13;
  for (const [from, to] of chart.spans) {
    const left = plot.valToPos(from, "x", true), right = plot.valToPos(to, "x", true);
    ctx.fillRect(left, bbox.top, Math.max(right - left, 1), bbox.height);
  }
  ctx.restore();
}

function shape(kind, x, y, size) {
  const corners = [[[-1, -1], [1, -1], [1, 1], [-1, 1]], [[0, -1.3], [1.2, 1], [-1.2, 1]],
                   [[0, -1.4], [1.4, 0], [0, 1.4], [-1.4, 0]], [[0, 1.3], [1.2, -1], [-1.2, -1]]];
  const points = corners[kind % corners.length].map(([a, b]) => [x + a * size, y + b * size]);
  return "M" + points.map(point => point.map(n => n.toFixed(1)).join(" ")).join("L") + "Z";
}

/* Between names there is nothing, so a band is a whisker at each. */
function drawWhiskers(chart, plot) {
  const {ctx} = plot, cap = 5 * devicePixelRatio;
  chart.curves.forEach((curve, number) => {
    const shown = plot.series.filter(series => series.curve === number)[0]?.show;
    if (!curve.low || !shown) return;
    ctx.strokeStyle = curveColour(curve);
    ctx.beginPath();
    curve.x.forEach((at, i) => {
      if (curve.low[i] === null || curve.high[i] === null) return;
      const x = plot.valToPos(at, "x", true);
      for (const y of [curve.low[i], curve.high[i]].map(v => plot.valToPos(v, "y", true))) {
        ctx.moveTo(x - cap, y);
        ctx.lineTo(x + cap, y);
      }
      ctx.moveTo(x, plot.valToPos(curve.low[i], "y", true));
      ctx.lineTo(x, plot.valToPos(curve.high[i], "y", true));
    });
    ctx.stroke();
  });
}

function drawAbove(chart, plot) {
  const {ctx, bbox} = plot, ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = colour("text");
  chart.levels.forEach((level, number) => {
    const y = Math.round(plot.valToPos(level.value, "y", true));
    ctx.lineWidth = 1.3 * ratio;
    ctx.setLineDash([[7, 4], [2, 3], [10, 3, 2, 3], [4, 6]][number % 4].map(n => n * ratio));
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  });
  ctx.setLineDash([]);
  ctx.lineWidth = 1.5 * ratio;
  if (chart.x.names.length) drawWhiskers(chart, plot);
  ctx.strokeStyle = colour("text");
  for (const mark of chart.marks) {
    const x = plot.valToPos(mark.x, "x", true), y = plot.valToPos(mark.y, "y", true);
    ctx.stroke(new Path2D(shape(mark.kind, x, y, 6 * ratio)));
  }
  ctx.restore();
}

/* Names spans, levels and bottlenecks, which the legend of uPlot does not name. */
function keys(chart) {
  const list = make("ul", {class: "keys"});
  const add = (drawing, text) => {
    const picture = make("svg", {width: 22, height: 14, "aria-hidden": "true"}, drawing);
    list.append(make("li", {}, picture, text));
  };
  if (chart.spans.length)
    add(make("rect", {width: 22, height: 14, style: "fill:var(--pause);opacity:.25"}),
        chart.span_name);
  chart.levels.forEach((level, number) => add(
    make("path", {d: "M0 7H22", style: "stroke:var(--text)", "stroke-width": 1.5,
                  "stroke-dasharray": ["7 4", "2 3", "10 3 2 3", "4 6"][number % 4]}),
    level.name));
  const seen = new Set();
  for (const mark of chart.marks) {
    if (seen.has(mark.kind)) continue;
    seen.add(mark.kind);
    add(make("path", {d: shape(mark.kind, 11, 7, 5), fill: "none", style: "stroke:var(--text)"}),
        "bottleneck " + mark.text);
  }
  return list;
}

function curveSeries(chart) {
  const series = [{label: axisTitle(chart.x), value: (plot, value) =>
    value === null ? "" : chart.x.names[Math.round(value)] ?? short(value)}];
  const bands = [];
  chart.curves.forEach((curve, number) => {
    const few = curve.x.length <= 40;
    series.push({
      curve: number, label: curve.name || chart.y.label, stroke: () => curveColour(curve), width: 2,
      dash: dashes[curve.dash], spanGaps: true,
      points: {show: ["points", "dots"].includes(curve.style) || few && curve.style === "line",
               size: 6},
      paths: curve.style === "steps" ? uPlot.paths.stepped({align: 1})
             : curve.style === "dots" ? () => null : uPlot.paths.linear(),
      value: (plot, value) => short(value) || "–",
    });
    if (!curve.low) return;
    const edge = {label: "", stroke: "transparent", width: 0, spanGaps: true,
                  points: {show: false}, band: true};
    series.push(edge, {...edge});
    if (chart.x.names.length) return;
    bands.push({series: [series.length - 2, series.length - 1],
                fill: () => curveColour(curve) + "2e"});
  });
  return {series, bands};
}

/* A name of the legend hides its curve, and so its band. */
function hideBands(plot, number, options) {
  if (number === null || options.show === undefined) return;
  for (const other of [number + 1, number + 2])
    if (plot.series[other]?.band && !plot.series[number].band)
      plot.setSeries(other, {show: options.show});
}

/* The value of x stands behind the curves. A marker has the dash of its curve. */
function tidyLegend(plot) {
  const rows = [...plot.root.querySelectorAll(".u-legend .u-series")];
  rows.forEach((row, i) => {
    const dash = plot.series[i].dash;
    if (plot.series[i].band) row.style.display = "none";
    if (dash?.length) {
      const line = make("svg", {width: 28, height: 8, class: "dashed"},
        make("path", {d: "M0 4H28", "stroke-width": 3, "stroke-dasharray": dash.join(" "),
                      style: "stroke:" + plot.series[i].stroke()}));
      row.querySelector(".u-marker").replaceWith(line);
    }
  });
  const longest = Math.max(...plot.series.slice(1).map(series => series.label.length));
  rows[0].parentElement.append(rows[0]);
  rows[0].parentElement.style.gridTemplateColumns =
    `repeat(auto-fill, minmax(min(100%, ${Math.round(longest * 0.44 + 4.5)}rem), 1fr))`;
  showValues(plot);
}

/* Without a pointer, the legend has no values. */
function showValues(plot) {
  plot.root.classList.toggle("idle", !(plot.cursor.left >= 0));
}

function plotCurves(chart, place) {
  const {series, bands} = curveSeries(chart);
  const levels = chart.levels.map(level => level.value);
  const options = {
    width: place.clientWidth, height: 340, series, bands,
    axes: [axis(chart.x, 2, 34), axis(chart.y, 3, 52)],
    scales: {x: {time: false, distr: chart.x.logarithmic ? 3 : 1,
                 range: zoomed(chart.x, chart.x.names.length ? 0.1 : chart.x.most === null ? 0.015 : 0)},
             y: {distr: chart.y.logarithmic ? 3 : 1, range: range(chart.y, levels, 0.05)}},
    legend: {live: true},
    cursor: {dataIdx: nearest, points: {size: 7}},
    hooks: {drawAxes: [plot => drawBelow(chart, plot)], draw: [plot => drawAbove(chart, plot)],
            setSeries: [hideBands],
            ready: [tidyLegend], setLegend: [showValues]},
  };
  place.plot = new uPlot(options, align(chart), place);
  place.after(keys(chart));
  return place.plot;
}

/* ---- maps: a row a port, a colour a value ---- */

const stops = [[0.0, [229, 236, 244]], [0.35, [138, 190, 224]], [0.7, [38, 118, 184]],
               [1.0, [6, 36, 92]]];
const darkStops = [[0.0, [38, 46, 58]], [0.35, [31, 92, 138]], [0.7, [56, 160, 214]],
                   [1.0, [214, 240, 255]]];

function shade(part) {
  const list = scheme.matches ? darkStops : stops;
  part = Math.min(Math.max(part, 0), 1);
  let i = 1;
  while (i < list.length - 1 && part > list[i][0]) i++;
  const [low, from] = list[i - 1], [high, to] = list[i];
  const along = (part - low) / (high - low);
  return `rgb(${from.map((n, j) => Math.round(n + (to[j] - n) * along)).join(" ")})`;
}

function scaleBar(label, most) {
  const box = make("div", {class: "scale"}, label, " 0", make("i"), short(most));
  const paint = () => {
    const parts = [0, 0.25, 0.5, 0.75, 1].map(shade);
    box.querySelector("i").style.background = `linear-gradient(90deg, ${parts.join(", ")})`;
  };
  paint();
  scheme.addEventListener("change", paint);
  return box;
}

function plotMap(chart, place) {
  const xs = chart.curves[0].x, rows = chart.curves.length;
  const most = chart.scale.most ?? Math.max(...chart.curves.flatMap(curve => curve.y));
  const half = xs.length > 1 ? (xs[1] - xs[0]) / 2 : 0.5;
  const height = Math.max(12, Math.min(24, 900 / rows));
  const names = {label: "", unit: "", names: chart.curves.map(curve => curve.name), ticks: []};
  const left = Math.min(Math.max(...names.names.map(name => name.length)) * 7 + 12,
                        place.clientWidth / 3);
  const draw = plot => {
    const {ctx} = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    ctx.clip();
    chart.curves.forEach((curve, row) => {
      const top = plot.valToPos(row - 0.46, "y", true), bottom = plot.valToPos(row + 0.46, "y", true);
      curve.y.forEach((value, i) => {
        const from = plot.valToPos(xs[i] - half, "x", true);
        const to = plot.valToPos(xs[i] + half, "x", true);
        ctx.fillStyle = shade((value ?? 0) / (most || 1));
        ctx.fillRect(from, top, to - from + 0.6, bottom - top);
      });
    });
    ctx.restore();
  };
  const options = {
    width: place.clientWidth, height: rows * height + 70,
    series: [{}, {paths: () => null, points: {show: false}}],
    axes: [axis(chart.x, 2, 34), {...axis(names, 3, left), label: null, labelSize: 0,
                                  grid: {show: false}}],
    scales: {x: {time: false, range: zoomed(chart.x, 0)}, y: {range: [-0.5, rows - 0.5], dir: -1}},
    legend: {show: false}, cursor: {y: false, points: {show: false}},
    hooks: {draw: [draw]},
  };
  const plot = place.plot = new uPlot(options, [xs, xs.map(() => 0)], place);
  plot.over.addEventListener("mousemove", event => {
    const row = Math.round(plot.posToVal(event.offsetY, "y")), index = plot.cursor.idx;
    const curve = chart.curves[row];
    showTip(event, curve && index !== null && index !== undefined
      ? `${curve.name}\n${short(xs[index])} ${chart.x.unit}: ${short(curve.y[index])} ${chart.scale.unit}`
      : "");
  });
  plot.over.addEventListener("mouseleave", hideTip);
  place.after(scaleBar(axisTitle(chart.scale), most));
  return plot;
}

/* ---- bars ---- */

function drawBars(chart, place) {
  const many = chart.curves.length > 1;
  const ends = chart.curves.flatMap(curve => (curve.high || curve.y).filter(v => v !== null));
  const most = chart.x.most ?? Math.max(...ends, ...chart.levels.map(level => level.value));
  const box = make("div", {class: "bars"});
  const part = value => 78 * value / (most || 1); /* room for the number behind it */
  chart.y.names.forEach((name, row) => {
    box.append(make("div", {class: "name"}, name));
    chart.curves.forEach(curve => {
      const i = curve.x.indexOf(row);
      if (i < 0) return;
      const from = curve.low?.[i] ?? 0, to = curve.high?.[i] ?? curve.y[i];
      const track = make("div", {class: "track"});
      const bar = make("div", {class: "bar", style:
        `left:${part(from)}%;width:${part(to - from)}%;background:${many ? curveColour(curve)
                                                                         : "var(--bar)"}`});
      track.append(bar, make("div", {class: "value", style: `left:${part(to)}%`},
                             short(curve.y[i]) + " " + chart.x.unit));
      for (const level of chart.levels)
        track.append(make("div", {class: "level", style: `left:${part(level.value)}%`}));
      box.append(track);
    });
  });
  place.append(box, make("p", {class: "note"}, axisTitle(chart.x)));
  const list = keys(chart);
  if (many)
    chart.curves.forEach(curve => list.append(make("li", {},
      make("svg", {width: 14, height: 14}, make("rect", {width: 14, height: 14,
        fill: curveColour(curve)})), curve.name)));
  place.append(list);
}

/* ---- the topology ---- */

function linkPath(map, link) {
  const a = map.nodes[link.from], b = map.nodes[link.to];
  const dx = b.px - a.px, dy = b.py - a.py, length = Math.hypot(dx, dy) || 1;
  const nx = -dy / length * 2.6, ny = dx / length * 2.6; /* each direction on its own side */
  const bow = a.level === b.level ? 10 + length / 8 : 0;
  return `M${(a.px + nx).toFixed(1)} ${(a.py + ny).toFixed(1)}Q${((a.px + b.px) / 2 + nx +
    nx * bow / 2.6).toFixed(1)} ${((a.py + b.py) / 2 + ny + ny * bow / 2.6).toFixed(1)} ` +
    `${(b.px + nx).toFixed(1)} ${(b.py + ny).toFixed(1)}`;
}

function placeNodes(map) {
  const levels = Math.max(...map.nodes.map(node => node.level)) + 1;
  const counts = new Array(levels).fill(0);
  for (const node of map.nodes) counts[node.level]++;
  map.height = levels === 1 ? 150 : 70 + (levels - 1) * 120;
  map.width = Math.min(Math.max(110 * Math.max(...counts), 420), 1000);
  for (const node of map.nodes) {
    node.px = 20 + node.place * (map.width - 40);
    node.py = map.height - 34 - node.level * 120;
    node.size = counts[node.level] > 60 ? 3 : counts[node.level] > 24 ? 5 : 8;
    node.named = counts[node.level] <= (node.host ? 24 : 12);
    node.width = node.named ? Math.max(node.name.length * 6.5 + 14, 34) : node.size * 3;
    if (node.named && !node.host) node.size = 11;
  }
}

function drawTopology(map, place) {
  placeNodes(map);
  const svg = make("svg", {viewBox: `0 0 ${map.width} ${map.height}`, role: "img",
                           "aria-label": "hosts, switches and links",
                           style: `max-width:${map.width * 1.3}px;min-width:${map.width * 0.65}px`});
  const lines = map.links.map(link => {
    const path = make("path", {d: linkPath(map, link), "stroke-width": 4});
    const held = make("path", {d: linkPath(map, link), "stroke-width": 4, class: "held"});
    svg.append(path, held);
    return {path, held};
  });
  const circles = map.nodes.map(node => {
    const circle = node.host
      ? make("circle", {cx: node.px, cy: node.py, r: node.size})
      : make("rect", {x: node.px - node.width / 2, y: node.py - node.size, width: node.width,
                      height: node.size * 2, rx: 3});
    svg.append(circle);
    if (node.named)
      svg.append(make("text", {x: node.px, y: node.host ? node.py + 24 : node.py + 4}, node.name));
    return circle;
  });
  const frames = map.frames || [];
  const show = number => {
    const frame = frames[number - 1];
    const paused = new Set();
    map.links.forEach((link, i) => {
      const use = frame ? frame.use[i] : link.use, held = frame ? frame.paused[i] : link.paused;
      lines[i].path.style.stroke = use === null ? colour("grid") : shade(use / 100);
      lines[i].held.style.opacity = held > 0 ? Math.min(0.25 + held / 100, 1) : 0;
      if (held > 0) paused.add(link.from);
      lines[i].text = `${link.port} to ${map.nodes[link.to].name}, ${short(link.rate)} Gb/s\n` +
        (use === null ? "not recorded" : `used ${short(use)} %, paused ${short(held ?? 0) || 0} %`);
    });
    map.nodes.forEach((node, i) =>
      circles[i].setAttribute("class", "node" + (paused.has(i) ? " paused" : "")));
    return `${frame ? `${short(frame.from)} to ${short(frame.to)} us` : "whole run"}, ` +
      `${paused.size} of ${map.nodes.length} nodes are paused`;
  };
  lines.forEach(line => {
    for (const path of [line.path, line.held])
      path.addEventListener("mousemove", event => showTip(event, line.text));
    line.held.addEventListener("mouseleave", hideTip);
  });
  map.nodes.forEach((node, i) => {
    circles[i].addEventListener("mousemove", event => showTip(event, node.name));
    circles[i].addEventListener("mouseleave", hideTip);
  });
  const box = make("div", {class: "topology"}, svg);
  place.append(box);
  let number = 0;
  const output = make("output", {}, show(0));
  scheme.addEventListener("change", () => show(number));
  if (frames.length > 1) place.append(slider(frames.length, output, at => show(number = at)));
  else place.append(make("div", {class: "slider"}, output));
  place.append(scaleBar("use of the link (%)", 100), make("ul", {class: "keys"},
    make("li", {}, make("svg", {width: 26, height: 14},
      make("path", {d: "M0 7H26", "stroke-width": 4, class: "held", fill: "none",
                    style: "stroke:var(--pause);stroke-dasharray:5 4"})),
      "the sender at this link is paused (summed over priorities)")));
}

function slider(count, output, show) {
  const input = make("input", {type: "range", min: 0, max: count, value: 0,
                               "aria-label": "time; the left end is the whole run"});
  const button = make("button", {type: "button"}, "Play");
  let timer = null;
  const move = () => { output.textContent = show(Number(input.value)); };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    button.textContent = "Play";
  };
  input.addEventListener("input", move);
  button.addEventListener("click", () => {
    if (timer) return stop();
    if (Number(input.value) === count) input.value = 0;
    button.textContent = "Stop";
    timer = setInterval(() => {
      if (Number(input.value) >= count) return stop();
      input.value = Number(input.value) + 1;
      move();
    }, 120);
  });
  return make("div", {class: "slider"}, button, input, output);
}
