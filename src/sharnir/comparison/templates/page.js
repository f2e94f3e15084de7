// The charts, in the colours of the page; and the tables, sorted by the column that is pressed.
"use strict";
const charts = JSON.parse(document.getElementById("charts").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function colours() {
  const style = getComputedStyle(document.documentElement);
  const [ink, line, paper] = ["--ink", "--line", "--paper"].map((name) => style.getPropertyValue(name).trim());
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line };
  return { ink, axis, paper };
}

function draw() {
  const { ink, axis, paper } = colours();
  const narrow = window.innerWidth < 640;
  for (const [id, chart] of Object.entries(charts)) {
    const layout = structuredClone(chart.layout);
    layout.font = { ...layout.font, color: ink, size: narrow ? 10 : 12 };
    layout.xaxis = { ...layout.xaxis, ...axis };
    layout.yaxis = { ...layout.yaxis, ...axis };
    layout.hoverlabel = { bgcolor: paper, font: { color: ink } };
    Plotly.react("chart-" + id, chart.data, layout, { responsive: true, displaylogo: false, displayModeBar: false });
  }
}

function sortable(table) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead button").forEach((button) => {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("thead th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const at = head.cellIndex;
      const key = (row) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim();
      const numeric = head.dataset.kind === "number";
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");       // what has no number stays below
        return (numeric ? x - y : x.localeCompare(y)) * (up ? 1 : -1);
      };
      [...body.rows].sort(order).forEach((row) => body.append(row));
    });
  });
}

draw();
dark.addEventListener("change", draw);
document.querySelectorAll("table.sortable").forEach(sortable);
