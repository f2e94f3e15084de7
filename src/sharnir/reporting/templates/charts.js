// The charts, in the colours of the page.
"use strict";
const charts = JSON.parse(document.getElementById("charts").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");

function colours() {
  const style = getComputedStyle(document.documentElement);
  const [ink, line, paper] = ["--ink", "--line", "--paper"].map((name) => style.getPropertyValue(name).trim());
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line };
  return { ink, axis, paper };
}

function lighter(colour) {                       // lines are chosen for white paper
  const parts = /^#(..)(..)(..)$/.exec(colour).slice(1).map((hex) => parseInt(hex, 16));
  return `rgb(${parts.map((x) => Math.round(x + 0.4 * (255 - x)))})`;
}

function draw() {
  const { ink, axis, paper } = colours();
  const narrow = window.innerWidth < 640;
  for (const [id, chart] of Object.entries(charts)) {
    const { data, layout } = structuredClone(chart);
    Object.assign(layout, { paper_bgcolor: paper, plot_bgcolor: paper, hoverlabel: { bgcolor: paper, font: { color: ink } } });
    layout.font = { ...layout.font, color: ink, size: narrow ? 10 : 12 };
    for (const [name, part] of Object.entries(layout)) {
      if (/^[xy]axis\d*$/.test(name)) layout[name] = { ...part, ...axis };
      if (narrow && part.x > 1) Object.assign(part, { x: 0, font: { size: 9 }, bgcolor: paper + "b0" });  // a legend: no room beside
    }
    if (dark.matches) data.filter((trace) => trace.line).forEach((trace) => { trace.line.color = lighter(trace.line.color); });
    Plotly.react("chart-" + id, data, layout, { responsive: true, displaylogo: false, displayModeBar: false });
  }
}

draw();
dark.addEventListener("change", draw);
