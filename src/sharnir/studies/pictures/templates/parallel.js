// Parallel coordinates: an axis for every column, a line for every run.
{
  const canvas = document.getElementById("parallel");
  const TOP = 76, TALL = 330, NONE = 34, LEFT = 64, RIGHT = 50;
  const y = (at) => (at === null ? TOP + TALL + NONE : TOP + (1 - at) * TALL);
  let xs = [], drag = null;

  function path(pen, run) {
    pen.beginPath();
    view.parallel.forEach((k, i) => { pen[i ? "lineTo" : "moveTo"](xs[i], y(places[k][run])); });
    pen.stroke();
  }

  function draw() {
    const shown = view.parallel, n = shown.length;
    const width = Math.max(canvas.parentElement.clientWidth, LEFT + RIGHT + 74 * (n - 1));
    const gap = (width - LEFT - RIGHT) / Math.max(n - 1, 1);
    xs = shown.map((_, i) => LEFT + i * gap);
    const below = shown.some((k) => places[k].includes(null)) ? NONE + 22 : 8;
    const pen = fit(canvas, width, TOP + TALL + below), { ink, soft, paper, line } = theme();
    const order = [...Array(count).keys()], chosen = order.map(isChosen);
    if (view.brushes.size) {
      Object.assign(pen, { strokeStyle: line, lineWidth: 1, globalAlpha: 0.35 });
      order.filter((run) => !chosen[run]).forEach((run) => path(pen, run));
    }
    for (const ok of [1, 0]) {
      pen.setLineDash(ok ? [] : [5, 3]);
      const mine = order.filter((run) => chosen[run] && runs.ok[run] === ok);
      const opacity = (ok ? 10 : 5) / Math.sqrt(mine.length || 1);
      Object.assign(pen, { globalAlpha: Math.min(Math.max(opacity, 0.2), 0.9), lineWidth: 1.2 });
      mine.forEach((run) => {
        pen.strokeStyle = ok ? colourOf(run) : study.failed;
        path(pen, run);
      });
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    if (view.hover >= 0) { Object.assign(pen, { strokeStyle: ink, lineWidth: 2.5 }); path(pen, view.hover); }
    shown.forEach((k, i) => axis(pen, columns[k], k, xs[i], gap, { ink, soft, paper }));
  }

  function axis(pen, column, k, x, gap, { ink, soft, paper }) {
    Object.assign(pen, { strokeStyle: ink, fillStyle: ink, lineWidth: 1, textAlign: "right", textBaseline: "middle" });
    pen.font = "11px system-ui, sans-serif";
    pen.beginPath(); pen.moveTo(x, y(1)); pen.lineTo(x, y(0)); pen.stroke();
    column.ticks.forEach((tick, j) => {
      const at = y(position(column, tick)), word = lines(pen, column.texts[j], Math.max(gap - 16, 40), 1)[0];
      const wide = pen.measureText(word).width;
      Object.assign(pen, { fillStyle: paper, globalAlpha: 0.75 });
      pen.fillRect(x - 8 - wide, at - 7, wide + 3, 14);
      Object.assign(pen, { fillStyle: ink, globalAlpha: 1 });
      pen.fillText(word, x - 6, at);
      pen.fillRect(x - 4, at - 0.5, 4, 1);
    });
    if (places[k].includes(null)) {
      pen.beginPath(); pen.arc(x, y(null), 2.5, 0, 7); pen.fill();
      Object.assign(pen, { fillStyle: soft, textAlign: "center" });
      pen.fillText("none", x, y(null) + 13);
    }
    Object.assign(pen, { fillStyle: ink, textAlign: "center", textBaseline: "alphabetic" });
    pen.font = `${column.role === "output" ? "bold " : ""}12px system-ui, sans-serif`;
    const name = lines(pen, column.label, Math.min(gap, 110) - 6, 4);
    name.forEach((part, j) => pen.fillText(part, x, TOP - 12 - 15 * (name.length - 1 - j)));
    const brush = view.brushes.get(k);
    if (brush) {
      Object.assign(pen, { strokeStyle: ink, fillStyle: soft, globalAlpha: 0.35 });
      pen.fillRect(x - 7, y(brush[1]), 14, y(brush[0]) - y(brush[1]));
      pen.globalAlpha = 1;
      pen.strokeRect(x - 7, y(brush[1]), 14, y(brush[0]) - y(brush[1]));
    }
  }

  const nearest = (x) => xs.reduce((best, at, i) => (Math.abs(at - x) < Math.abs(xs[best] - x) ? i : best), 0);
  const height = (event) => 1 - (event.offsetY - TOP) / TALL;

  canvas.addEventListener("pointerdown", (event) => {
    const i = nearest(event.offsetX);
    if (event.pointerType === "touch" || Math.abs(xs[i] - event.offsetX) > 24) return;
    drag = { k: view.parallel[i], from: height(event), moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const to = height(event);
      drag.moved ||= Math.abs(to - drag.from) * TALL > 3;
      if (drag.moved) view.brushes.set(drag.k, [Math.min(drag.from, to), Math.max(drag.from, to)]);
    } else {
      view.hover = under(event.offsetX, event.offsetY);
    }
    redraw();
  });
  canvas.addEventListener("pointerup", () => {
    if (drag && !drag.moved) view.brushes.delete(drag.k);
    drag = null;
    redraw();
  });
  canvas.addEventListener("pointerleave", () => { view.hover = -1; redraw(); });

  function under(x, at) {                         // the chosen run whose line passes nearest to a point, within 6 pixels
    const right = xs.findIndex((edge) => edge >= x);
    if (right < 1) return -1;
    const share = (x - xs[right - 1]) / (xs[right] - xs[right - 1]), [a, b] = [view.parallel[right - 1], view.parallel[right]];
    let best = -1, least = 6;
    for (let run = 0; run < count; run++) {
      const off = Math.abs(y(places[a][run]) * (1 - share) + y(places[b][run]) * share - at);
      if (off < least && isChosen(run)) [best, least] = [run, off];
    }
    return best;
  }
  charts.push(draw);
}
