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

// Where there is no room beside charts, their legends stand above them, and all charts move down by as much.
const ROW = 19, LETTER = 6, SAMPLE = 48;         // pixels of a row of a legend, of a letter, of the line before a name
function legendsAbove(layout, data, width) {
  const { margin } = layout, room = width - margin.l - margin.r, whole = layout.height - margin.t - margin.b, gap = 44;
  const panels = Object.keys(layout).filter((name) => /^legend\d*$/.test(name) && layout[name].x > 1).map((name) => {
    const wide = data.filter((trace) => trace.legend === name).map((trace) => SAMPLE + LETTER * trace.name.length);
    const oneRow = wide.reduce((a, b) => a + b, 0) <= room, axis = layout["yaxis" + name.slice(6)], [low, high] = axis.domain;
    const rows = oneRow ? 1 : Math.ceil(wide.length / Math.max(1, Math.floor(room / Math.max(...wide))));
    return { name, axis, high, tall: (high - low) * whole, above: ROW * rows + 10 };
  });
  const first = panels[0].above, tall = panels.reduce((sum, panel) => sum + panel.tall + panel.above + gap, -first - gap);
  layout.height = tall + margin.t + margin.b + first;
  layout.margin = { ...margin, t: margin.t + first };
  let top = 0;
  for (const { name, axis, high, tall: own, above } of panels) {
    top += name === panels[0].name ? 0 : above + gap;
    for (const text of layout.annotations) {
      if (text.name === "axis" ? text.y === high : name === panels[0].name) Object.assign(text, { yshift: text.yshift + above });
      if (text.name === "axis" && text.y === high) Object.assign(text, { y: 1 - top / tall, name: "" });
    }
    axis.domain = [Math.max(0, 1 - (top + own) / tall), 1 - top / tall];
    Object.assign(layout[name], { x: 0, y: axis.domain[1], yanchor: "bottom", orientation: "h" });
    top += own;
  }
}

function draw() {
  const { ink, axis, paper } = colours();
  const narrow = window.innerWidth < 640;
  for (const [id, chart] of Object.entries(charts)) {
    const { data, layout } = structuredClone(chart);
    Object.assign(layout, { paper_bgcolor: paper, plot_bgcolor: paper, hoverlabel: { bgcolor: paper, font: { color: ink } } });
    layout.font = { ...layout.font, color: ink, size: narrow ? 11 : 12 };
    if (narrow && layout.legend && layout.legend.x > 1) legendsAbove(layout, data, document.getElementById("chart-" + id).clientWidth);
    for (const [name, part] of Object.entries(layout)) {
      if (/^[xy]axis\d*$/.test(name)) layout[name] = { ...part, ...axis };
    }
    const drawn = data.flatMap((trace) => [trace.line, trace.marker]).filter((look) => look && /^#/.test(look.color));
    if (dark.matches) drawn.forEach((look) => { look.color = lighter(look.color); });
    Plotly.react("chart-" + id, data, layout, { responsive: true, displaylogo: false, displayModeBar: false });
  }
}

draw();
dark.addEventListener("change", draw);
