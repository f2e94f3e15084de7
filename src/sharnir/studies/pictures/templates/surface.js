// The response surface: an output over two inputs, or one; other inputs of a grid are held at a value that can be changed.
{
  const [output, across, up] = ["output", "across", "up"].map((id) => document.getElementById(id));
  const controls = document.getElementById("surface-controls"), note = document.getElementById("surface-note");
  const grid = study.grid, nodes = grid && grid.values ? grid : runs;
  const inputs = [...columns.keys()].filter((k) => columns[k].role === "input");
  const varying = inputs.filter((k) => columns[k].varies);
  const isWords = (k) => columns[k].words.length > 0;
  const ordered = [...(varying.length ? varying : inputs)].sort((a, b) => isWords(a) - isWords(b));
  const held = new Map();                         // index along the dimension of every input of a grid
  const SMOOTH = 5, CELLS = 44;
  const SPECIAL = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;" };   // plotly reads tags and formulas
  const escape = (words) => words.replace(/[&<>$]/g, (letter) => SPECIAL[letter]);
  const named = (k, value) => escape(`${columns[k].name} ${text(columns[k], value)}`);
  const HOVER = "%{text}<extra></extra>", BLUE = "#4a90c2";

  columns.forEach((column, k) => { if (column.role === "output" && !column.words.length) option(output, k, column.label); });
  ordered.forEach((k) => option(across, k, columns[k].label));
  option(up, -1, "nothing else");
  ordered.forEach((k) => option(up, k, columns[k].label));
  up.value = ordered.length > 1 ? ordered[1] : -1;
  [output, across, up].forEach((select) => select.addEventListener("change", () => {
    if (up.value === across.value) up.value = ordered.find((k) => String(k) !== across.value) ?? -1;
    redraw();
  }));
  for (const k of grid ? grid.dims.filter((dim) => columns[dim].varies) : []) {
    const label = document.createElement("label"), select = document.createElement("select");
    along(k).forEach((value, i) => option(select, i, text(columns[k], value)));
    held.set(k, Math.floor(along(k).length / 2));
    select.value = held.get(k);
    select.addEventListener("change", () => { held.set(k, Number(select.value)); redraw(); });
    label.dataset.input = k;
    label.append("at " + columns[k].name + " ", select);
    controls.append(label);
  }

  function stride(k) { return grid.shape.slice(grid.dims.indexOf(k) + 1).reduce((a, b) => a * b, 1); }
  function along(k) { return Array.from({ length: grid.shape[grid.dims.indexOf(k)] }, (_, i) => nodes.values[k][i * stride(k)]); }
  function rising(k) {                            // indices along a dimension by value
    const values = along(k), order = [...values.keys()];
    return columns[k].words.length ? order : order.sort((a, b) => values[a] - values[b]);
  }

  function axis(column, { soft, line }) {
    const out = {
      title: { text: escape(column.label) }, type: column.log ? "log" : "linear", automargin: true, exponentformat: "power",
      gridcolor: line, zerolinecolor: line, linecolor: soft,
    };
    return column.words.length || column.log ? { ...out, tickvals: column.ticks, ticktext: column.texts.map(escape) } : out;
  }

  const level = (column, value) => (value === null || !column.log ? value : Math.log10(value));   // what the colour is even in

  function scale(column) {
    const stops = VIRIDIS.map((c, i) => [i / (VIRIDIS.length - 1), `rgb(${c})`]);
    const ticks = { tickvals: column.ticks.map((t) => level(column, t)), ticktext: column.texts };
    const colorbar = { title: { text: escape(column.label), side: "right" }, thickness: 14, ...ticks };
    return { colorscale: stops, zmin: level(column, column.low), zmax: level(column, column.high), colorbar };
  }

  function draw() {
    const [z, x, y] = [output, across, up].map((select) => Number(select.value)), colours = theme();
    const { ink, paper } = colours;
    for (const label of controls.querySelectorAll("[data-input]")) label.hidden = [x, y].includes(Number(label.dataset.input));
    const { data, said } = grid ? slice(z, x, y) : cloud(z, x, y);
    note.textContent = said;
    const layout = {
      height: 520, margin: { l: 70, r: 20, t: 20, b: 60 }, font: { color: ink, size: 12 },
      paper_bgcolor: paper, plot_bgcolor: paper,
      xaxis: axis(columns[x], colours), yaxis: axis(columns[y < 0 ? z : y], colours), showlegend: false, hovermode: "closest",
      hoverlabel: { bgcolor: paper, font: { color: ink } },
    };
    Plotly.react("surface", data, layout, { responsive: true, displaylogo: false, displayModeBar: false });
  }

  function failures(x, y, hover) {
    const marker = { symbol: "x-thin", size: 9, line: { width: 2, color: study.failed } };
    return { type: "scatter", mode: "markers", x, y, text: hover, hovertemplate: HOVER, marker };
  }

  function value(z, run) { return nodes.ok[run] ? nodes.values[z][run] : null; }

  function slice(z, x, y) {
    const others = [...held].filter(([k]) => k !== x && k !== y);
    const base = others.reduce((sum, [k, i]) => sum + i * stride(k), 0);
    const fixed = others.map(([k, i]) => `${columns[k].name} = ${text(columns[k], along(k)[i])}`);
    const thinned = grid.values ? "Some values of the inputs are left out. " : "";
    const said = (fixed.length ? `At ${fixed.join(", ")}. ` : "") + thinned + "Crosses: no value.";
    const order = grid.dims.includes(x) ? rising(x) : [0], step = grid.dims.includes(x) ? stride(x) : 0;
    const xs = order.map((i) => nodes.values[x][i * step]);
    if (y < 0) {
      const zs = order.map((i) => value(z, base + i * step)), lost = xs.filter((_, i) => zs[i] === null);
      const joined = columns[x].words.length ? "markers" : "lines+markers";
      const low = columns[z].low;
      const curve = { type: "scatter", mode: joined, x: xs, y: zs, line: { color: BLUE } };
      return { said, data: [curve, failures(lost, lost.map(() => low), lost.map(() => "no value"))] };
    }
    const rows = rising(y), ys = rows.map((i) => nodes.values[y][i * stride(y)]);
    const table = rows.map((r) => order.map((i) => value(z, base + i * step + r * stride(y))));
    const lost = table.flatMap((row, r) => row.flatMap((v, i) => (v === null ? [[xs[i], ys[r]]] : [])));
    const smooth = Math.min(xs.length, ys.length) >= SMOOTH && !columns[x].words.length && !columns[y].words.length;
    const contours = { type: "contour", ncontours: 16, line: { width: 0.5, color: "rgba(255,255,255,.5)" } };
    const look = smooth ? contours : { type: "heatmap" };
    const heights = table.map((row) => row.map((v) => level(columns[z], v)));
    const hover = table.map((row, r) => row.map((v, i) => [named(x, xs[i]), named(y, ys[r]), named(z, v)].join("<br>")));
    const gaps = { connectgaps: false, hoverongaps: false };
    const main = { ...look, x: xs, y: ys, z: heights, text: hover, hovertemplate: HOVER, ...gaps, ...scale(columns[z]) };
    return { said, data: [main, failures(lost.map((p) => p[0]), lost.map((p) => p[1]), lost.map(() => "no value"))] };
  }

  function cloud(z, x, y) {                       // the runs of a design, and a local mean between them
    const all = [...Array(count).keys()], known = all.filter((run) => value(z, run) !== null && runs.values[x][run] !== null);
    const lost = all.filter((run) => value(z, run) === null);
    const shown = [x, y, z].filter((k) => k >= 0);
    const about = (run) => [`run ${runs.index[run]}`, ...shown.map((k) => named(k, runs.values[k][run]))].join("<br>");
    const xs = known.map((run) => runs.values[x][run]);
    const points = { type: "scatter", mode: "markers", x: xs, text: known.map(about), hovertemplate: HOVER };
    const at = (k, list) => list.map((run) => runs.values[k][run]);
    if (y < 0) {
      const low = columns[z].low;
      const main = { ...points, y: at(z, known), marker: { color: BLUE, size: 6 } };
      return { said: "Crosses: no value.", data: [main, failures(at(x, lost), lost.map(() => low), lost.map(about))] };
    }
    const look = scale(columns[z]);
    const marker = {
      color: at(z, known).map((v) => level(columns[z], v)), colorscale: look.colorscale, cmin: look.zmin, cmax: look.zmax,
      size: known.length > 800 ? 5 : 8, line: { width: 0.7, color: "white" }, showscale: false,
    };
    const words = columns[x].words.length || columns[y].words.length;
    if (words) Object.assign(marker, { showscale: true, colorbar: look.colorbar });
    const data = [{ ...points, y: at(y, known), marker }, failures(at(x, lost), at(y, lost), lost.map(about))];
    const filled = !words && known.length > 5;
    if (filled) {
      data.unshift({ type: "contour", ...mean(known, z, x, y), ...look, ncontours: 16, line: { width: 0 }, hoverinfo: "skip" });
    }
    const between = !filled ? "" : "Colour between the points: the mean of runs nearby, over all other inputs. ";
    return { said: between + "Crosses: no value.", data };
  }

  function mean(known, z, x, y) {
    const reach = Math.min(Math.max(0.9 / Math.sqrt(known.length), 0.02), 0.2);
    const [us, vs] = [x, y].map((k) => known.map((run) => places[k][run]));
    const zs = known.map((run) => level(columns[z], runs.values[z][run]));
    const steps = Array.from({ length: CELLS + 1 }, (_, i) => i / CELLS);
    const raw = ({ log, low, high }, u) => (log ? low * (high / low) ** u : low + u * (high - low));
    const table = steps.map((v) => steps.map((u) => {
      let sum = 0, weight = 0, closest = Infinity;
      for (let i = 0; i < us.length; i++) {
        const d = ((us[i] - u) ** 2 + (vs[i] - v) ** 2) / reach ** 2;
        if (d < closest) closest = d;
        if (d > 25) continue;
        const w = Math.exp(-d);
        sum += w * zs[i];
        weight += w;
      }
      return closest < 9 ? sum / weight : null;   // where no run is near, nothing is drawn
    }));
    return { x: steps.map((u) => raw(columns[x], u)), y: steps.map((v) => raw(columns[y], v)), z: table };
  }

  let last = "";
  charts.push(() => {                             // brushing does not change it; plotly itself hears of a new size
    const now = JSON.stringify([output.value, across.value, up.value, [...held], dark.matches]);
    if (now !== last) { last = now; draw(); }
  });
}
