/* page: the sections of the report, and all that is no drawing. */
"use strict";

const makers = {
  text: item => make("p", {}, item.text),

  tiles: item => make("div", {class: "tiles"}, ...item.tiles.map(tile =>
    make("div", {class: "tile"},
      make("b", {class: tile.tone}, tile.value, " ", make("small", {}, tile.unit)),
      make("span", {}, tile.label)))),

  lines: item => make("details", {class: "card"}, make("summary", {}, item.title),
    make("pre", {}, item.text)),

  table: item => {
    const body = make("tbody", {}), search = make("input", {type: "search",
      placeholder: "Filter the rows", "aria-label": "Filter the rows"});
    const rows = item.rows.map(cells => make("tr", {}, ...cells.map((cell, i) => {
      const kind = item.columns[i].kind;
      const tone = kind !== "verdict" ? "" : cell === "met" ? "good" : "bad";
      return make("td", {class: `${kind} ${tone} ${cell.length < 32 ? "short" : ""}`}, cell);
    })));
    body.append(...rows);
    const heads = item.columns.map((column, i) => {
      const head = make("th", {class: column.kind, scope: "col"}, column.name);
      head.addEventListener("click", () => body.append(...sorted(rows, i, head)));
      return head;
    });
    search.addEventListener("input", () => {
      const text = search.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(text);
    });
    const card = make("div", {class: "card"});
    if (item.title) card.append(make("h3", {}, item.title));
    if (rows.length > 20) card.append(search);
    card.append(make("div", {class: "scroll"},
      make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body)));
    return card;
  },

  topology: item => {
    const card = make("div", {class: "card"});
    if (item.title) card.append(make("h3", {}, item.title));
    drawTopology(item, card);
    return card;
  },

  chart: item => {
    const chart = item.chart, place = make("div", {class: "plot"});
    const card = make("figure", {class: "card", id: "chart-" + chart.name, style: "margin:0"},
      make("h3", {}, chart.title), place);
    if (chart.kind === "bars") drawBars(chart, place);
    else charts.push({chart, place, card});
    if (chart.note) card.append(make("figcaption", {class: "note"}, chart.note));
    return card;
  },
};

/* By number where both cells have one, else by text; the same column again: from the other end. */
function sorted(rows, column, head) {
  const up = head.dataset.up !== "yes";
  head.dataset.up = up ? "yes" : "no";
  const text = row => row.children[column].textContent;
  return rows.sort((a, b) => {
    const difference = parseFloat(text(a)) - parseFloat(text(b));
    return (isNaN(difference) ? text(a).localeCompare(text(b)) : difference) * (up ? 1 : -1);
  });
}

/* Neighbours that are no maps stand in pairs on a wide page, and the last one of an odd number
 * alone. */
function inPairs(items) {
  const halves = new Set();
  const small = item => item?.kind === "chart" && item.chart.kind !== "map";
  for (let i = 0; i + 1 < items.length; i++)
    if (small(items[i]) && small(items[i + 1])) halves.add(items[i]).add(items[++i]);
  return halves;
}

function fill() {
  document.getElementById("title").textContent = report.title;
  document.getElementById("subtitle").textContent = report.subtitle;
  report.sections.forEach((section, number) => {
    const id = "section-" + number, items = make("div", {class: "items"});
    const halves = inPairs(section.items);
    for (const item of section.items) {
      const node = makers[item.kind](item);
      if (halves.has(item)) node.classList.add("half");
      items.append(node);
    }
    const parts = [make("h2", {id}, section.title)];
    if (section.text) parts.push(make("p", {}, section.text));
    document.getElementById("sections").append(make("section", {}, ...parts, items));
    document.getElementById("contents").append(make("a", {href: "#" + id}, section.title));
  });
  document.body.append(tip);
}

/* uPlot needs the width of its place, so it draws once the place is on the page. */
function drawCharts() {
  for (const {chart, place} of charts) {
    const plot = chart.kind === "map" ? plotMap(chart, place) : plotCurves(chart, place);
    // In the next frame: a change of size within the call is an error of the page.
    const fit = () => {
      if (place.clientWidth !== plot.width)
        plot.setSize({width: place.clientWidth, height: plot.height});
    };
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(place);
    scheme.addEventListener("change", () => plot.redraw(true, true));
  }
}

fill();
drawCharts();
