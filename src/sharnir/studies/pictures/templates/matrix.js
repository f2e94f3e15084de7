// The scatter matrix: every column over every other one, how often each value comes on the diagonal.
{
  const canvas = document.getElementById("matrix");
  const LEFT = 120, BOTTOM = 66, GAP = 8, INSET = 6, BINS = 16;
  let cell = 0, drag = null;
  const corner = (i, j) => [LEFT + j * cell, i * cell + 4];
  const inner = () => cell - GAP - 2 * INSET;

  function draw() {
    const shown = view.matrix, n = shown.length;
    cell = Math.min(Math.max((canvas.parentElement.clientWidth - LEFT - 12) / n, 90), 210);
    const pen = fit(canvas, LEFT + n * cell + 12, n * cell + BOTTOM), colours = theme();
    const chosen = Uint8Array.from({ length: count }, (_, run) => isChosen(run));
    const paints = Array.from({ length: count }, (_, run) => colourOf(run));
    shown.forEach((row, i) => {
      for (let j = 0; j <= i; j++) {
        const [x, y] = corner(i, j);
        Object.assign(pen, { strokeStyle: colours.line, lineWidth: 1, globalAlpha: 1 });
        pen.strokeRect(x + 0.5, y + 0.5, cell - GAP, cell - GAP);
        if (i === j) histogram(pen, row, x + INSET, y + INSET, chosen);
        else points(pen, shown[j], row, x + INSET, y + INSET, chosen, paints, colours);
      }
      names(pen, columns[row], i, n, colours);
    });
    if (drag && drag.moved) {
      Object.assign(pen, { strokeStyle: colours.ink, globalAlpha: 1 });
      pen.strokeRect(drag.from[0], drag.from[1], drag.to[0] - drag.from[0], drag.to[1] - drag.from[1]);
    }
  }

  function points(pen, a, b, x, y, chosen, paints, { line, ink }) {
    const size = inner(), r = count > 1500 ? 1.1 : count > 300 ? 1.6 : 2.4;
    for (const pass of view.brushes.size ? [0, 1] : [1]) {
      pen.globalAlpha = pass ? 0.8 : 0.5;
      for (let run = 0; run < count; run++) {
        const [u, v] = [places[a][run], places[b][run]];
        if (chosen[run] !== pass || u === null || v === null) continue;
        const [at, up] = [x + u * size, y + (1 - v) * size];
        if (runs.ok[run]) {
          pen.fillStyle = pass ? paints[run] : line;
          pen.fillRect(at - r, up - r, 2 * r, 2 * r);
        } else {
          pen.strokeStyle = pass ? study.failed : line;
          cross(pen, at, up, 3);
        }
      }
    }
    const [u, v] = view.hover < 0 ? [null, null] : [places[a][view.hover], places[b][view.hover]];
    pen.globalAlpha = 1;
    if (u === null || v === null) return;
    pen.strokeStyle = ink;
    pen.beginPath(); pen.arc(x + u * size, y + (1 - v) * size, 5, 0, 7); pen.stroke();
  }

  function histogram(pen, k, x, y, chosen) {
    const n = columns[k].words.length || BINS, size = inner(), good = Array(n).fill(0), bad = Array(n).fill(0);
    for (let run = 0; run < count; run++) {
      const at = places[k][run];
      if (at === null || !chosen[run]) continue;
      const bin = columns[k].words.length ? runs.values[k][run] : Math.min(Math.max(Math.floor(at * n), 0), n - 1);
      (runs.ok[run] ? good : bad)[bin] += 1;
    }
    const most = Math.max(1, ...good.map((g, i) => g + bad[i]));
    good.forEach((g, i) => {
      const [tall, more] = [(g / most) * size, (bad[i] / most) * size];
      Object.assign(pen, { globalAlpha: 0.6, fillStyle: "#4a90c2" });
      pen.fillRect(x + (i * size) / n, y + size - tall, size / n - 1, tall);
      Object.assign(pen, { globalAlpha: 0.9, fillStyle: study.failed });
      pen.fillRect(x + (i * size) / n, y + size - tall - more, size / n - 1, more);
    });
    pen.globalAlpha = 1;
  }

  function names(pen, column, i, n, { ink, soft }) {
    const [x, y] = corner(i, 0), size = inner(), every = Math.ceil(column.ticks.length / 3);
    const ticks = column.ticks.filter((_, k) => k % every === 0);
    const bold = column.role === "output" ? "bold " : "";
    Object.assign(pen, { fillStyle: soft, font: "10px system-ui, sans-serif", textBaseline: "middle" });
    let free = -Infinity;                         // where the next word below may begin
    for (const tick of ticks) {
      const word = lines(pen, column.texts[column.ticks.indexOf(tick)], 44, 1)[0], at = position(column, tick) * size;
      pen.textAlign = "right";
      if (i) pen.fillText(word, x - 4, y + INSET + size - at);
      pen.textAlign = "center";
      const middle = corner(i, i)[0] + INSET + at, half = pen.measureText(word).width / 2;
      if (middle - half < free) continue;
      pen.fillText(word, middle, n * cell + 4);
      free = middle + half + 4;
    }
    Object.assign(pen, { fillStyle: ink, font: bold + "11px system-ui, sans-serif", textAlign: "left" });
    const beside = lines(pen, column.label, LEFT - 52, 4);
    beside.forEach((part, k) => pen.fillText(part, 2, y + cell / 2 + 14 * (k - (beside.length - 1) / 2)));
    pen.textAlign = "center";
    const middle = corner(i, i)[0] + (cell - GAP) / 2;
    lines(pen, column.label, cell - GAP, 3).forEach((part, k) => pen.fillText(part, middle, n * cell + 20 + 14 * k));
  }

  function place(event) {                         // the panel under the pointer, and where in it
    const j = Math.floor((event.offsetX - LEFT) / cell), i = Math.floor((event.offsetY - 4) / cell);
    return i < view.matrix.length && j >= 0 && j < i ? { i, j } : null;
  }
  const share = (p, i, j) => [(p[0] - corner(i, j)[0] - INSET) / inner(), 1 - (p[1] - corner(i, j)[1] - INSET) / inner()];

  canvas.addEventListener("pointerdown", (event) => {
    const found = place(event);
    if (!found || event.pointerType === "touch") return;
    const at = [event.offsetX, event.offsetY];
    drag = { ...found, from: at, to: at, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      drag.to = [event.offsetX, event.offsetY];
      drag.moved ||= Math.hypot(drag.to[0] - drag.from[0], drag.to[1] - drag.from[1]) > 3;
    } else {
      const found = place(event);
      view.hover = found ? near(share([event.offsetX, event.offsetY], found.i, found.j), found) : -1;
    }
    redraw();
  });
  canvas.addEventListener("pointerup", () => {
    if (!drag) return;
    const { i, j } = drag, [a, b] = [view.matrix[j], view.matrix[i]];
    if (drag.moved) {
      const [p, q] = [share(drag.from, i, j), share(drag.to, i, j)];
      view.brushes.set(a, [Math.min(p[0], q[0]), Math.max(p[0], q[0])]);
      view.brushes.set(b, [Math.min(p[1], q[1]), Math.max(p[1], q[1])]);
    } else {
      view.brushes.delete(a);
      view.brushes.delete(b);
    }
    drag = null;
    redraw();
  });
  canvas.addEventListener("pointerleave", () => { view.hover = -1; redraw(); });

  function near([u, v], { i, j }) {
    const [a, b] = [places[view.matrix[j]], places[view.matrix[i]]];
    let best = -1, least = 8 / inner();
    for (let run = 0; run < count; run++) {
      if (a[run] === null || b[run] === null) continue;
      const off = Math.hypot(a[run] - u, b[run] - v);
      if (off < least) [best, least] = [run, off];
    }
    return best;
  }
  charts.push(draw);
}
