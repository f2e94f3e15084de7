// The runs, which of them are chosen, and their colours; every chart draws what is here.
"use strict";
const study = JSON.parse(document.getElementById("charts").textContent).study;
const { columns, runs } = study;
const count = runs.ok.length;
const dark = matchMedia("(prefers-color-scheme: dark)");
const VIRIDIS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"].map(parsed);
const view = { parallel: [...study.parallel], matrix: [...study.matrix], colour: study.colour, brushes: new Map(), hover: -1 };
const charts = [];                                // functions that draw

function parsed(hex) { return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16)); }

function theme() {
  const style = getComputedStyle(document.documentElement);
  const named = ["ink", "soft", "paper", "line"].map((name) => [name, style.getPropertyValue("--" + name).trim()]);
  return Object.fromEntries(named);
}

function position(column, value) {                // 0 at the lower end of an axis, 1 at the upper one; no value: null
  if (value === null) return null;
  const f = column.log ? Math.log : (x) => x;
  return (f(value) - f(column.low)) / (f(column.high) - f(column.low));
}
const places = columns.map((column, k) => runs.values[k].map((value) => position(column, value)));

function shade(at) {
  const x = Math.min(Math.max(at, 0), 1) * (VIRIDIS.length - 1);
  const k = Math.min(Math.floor(x), VIRIDIS.length - 2);
  const lift = dark.matches ? 0.25 : 0;           // the dark end would be lost on dark paper
  const mixed = VIRIDIS[k].map((c, i) => c + (x - k) * (VIRIDIS[k + 1][i] - c));
  return `rgb(${mixed.map((c) => Math.round(c + lift * (255 - c)))})`;
}

function colourOf(run) {
  const column = columns[view.colour];
  if (!column || !column.varies) return dark.matches ? "#6db3e8" : "#1b6ca8";
  const value = runs.values[view.colour][run];
  if (value === null) return "#8a8f98";
  return column.words.length ? study.palette[value % study.palette.length] : shade(places[view.colour][run]);
}

function isChosen(run) {
  for (const [k, [low, high]] of view.brushes) {
    const at = places[k][run];
    if (at === null || at < low || at > high) return false;
  }
  return true;
}

function text(column, value) {
  if (value === null) return "–";
  if (column.words.length) return column.words[value];
  return String(Number(value.toPrecision(5))) + (column.units && column.units !== "1" ? " " + column.units : "");
}

function fit(canvas, width, height) {             // sharp on every screen
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  Object.assign(canvas.style, { width: width + "px", height: height + "px" });
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "12px system-ui, sans-serif";
  return pen;
}

function lines(pen, label, width, most) {         // a label broken after dots, spaces, underscores and commas
  const out = [""];
  for (const piece of label.split(/(?<=[._, ])/)) {
    if (out.at(-1) && pen.measureText(out.at(-1) + piece.trimEnd()).width > width) out.push("");
    out[out.length - 1] += piece;
  }
  const kept = out.slice(0, most).map((line, k) => {
    let rest = line.trim() + (k === most - 1 && out.length > most ? "…" : "");
    while (rest.length > 2 && pen.measureText(rest).width > width) rest = rest.slice(0, -2) + "…";
    return rest;
  });
  return kept;
}

function cross(pen, x, y, r) {
  pen.beginPath();
  pen.moveTo(x - r, y - r); pen.lineTo(x + r, y + r);
  pen.moveTo(x - r, y + r); pen.lineTo(x + r, y - r);
  pen.stroke();
}

function readout() {
  const k = view.hover;
  document.getElementById("readout").textContent = k < 0 ? "" :
    `Run ${runs.index[k]}${runs.ok[k] ? "" : " (failed)"}: ` +
    columns.map((c, i) => `${c.name} ${text(c, runs.values[i][k])}`).join("; ");
}

let waiting = false;
function redraw() {                               // once for each picture of the screen
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const n = [...Array(count).keys()].filter(isChosen).length;
    document.getElementById("chosen").textContent = `${n} of ${count} runs chosen`;
    document.getElementById("all").disabled = !view.brushes.size;
    readout();
    charts.forEach((chart) => chart());
  });
}

function option(select, value, label) { select.append(new Option(label, value)); }

function checkboxes(id, list, least) {            // which columns a chart has
  const box = document.getElementById(id);
  columns.forEach((column, k) => {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "checkbox", checked: list.includes(k) });
    input.addEventListener("change", () => {
      const wanted = [...columns.keys()].filter((i) => (i === k ? input.checked : list.includes(i)));
      if (wanted.length < least) { input.checked = true; return; }
      list.splice(0, list.length, ...wanted);
      redraw();
    });
    label.append(input, " " + column.label);
    box.append(label);
  });
}
checkboxes("parallel-columns", view.parallel, 1);
checkboxes("matrix-columns", view.matrix, 1);

const colour = document.getElementById("colour");
option(colour, -1, "nothing");
columns.forEach((column, k) => { if (column.varies) option(colour, k, column.label); });
colour.value = view.colour;
colour.addEventListener("change", () => { view.colour = Number(colour.value); redraw(); });
document.getElementById("all").addEventListener("click", () => { view.brushes.clear(); redraw(); });
dark.addEventListener("change", redraw);
window.addEventListener("resize", redraw);
