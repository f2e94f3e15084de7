// Plots in step with the motion: lines over time, the value under the cursor, a click goes to that time.
const NAMED = 4;                                                     // events whose names do not hide the lines

class Plot {
  constructor(plot, array, events, range, seek) {
    this.lines = plot.curves.map((line) => ({ ...line, t: array(line.t), y: array(line.y) }));
    this.plot = plot;
    this.events = events;
    this.range = range;
    this.figure = document.createElement("figure");
    const caption = this.figure.appendChild(document.createElement("figcaption"));
    const title = caption.appendChild(document.createElement("b"));
    title.textContent = plot.title;
    caption.append(plot.note);
    const box = this.figure.appendChild(document.createElement("div"));
    box.className = "plot";
    this.below = box.appendChild(document.createElement("canvas"));             // axes and lines: drawn when something changes
    this.mark = box.appendChild(document.createElement("div"));                 // the time that is shown
    this.mark.className = "mark";
    this.above = box.appendChild(document.createElement("canvas"));             // values: drawn when the time stands still
    this.seen = true;
    this.written = 0;
    new IntersectionObserver(([entry]) => { this.seen = entry.isIntersecting; }).observe(box);
    this.above.setAttribute("role", "img");
    this.above.setAttribute("aria-label", `Plot of ${title.textContent} over time: ${this.lines.map((line) => line.label).join(", ")}`);
    this.legend = this.figure.appendChild(document.createElement("ul"));
    this.legend.className = "legend";
    this.values = this.lines.map((line) => this.entry(line));
    this.hover = null;
    this.dragged = false;
    const time = (e) => this.time(e.offsetX);
    this.above.addEventListener("pointerdown", (e) => { this.dragged = true; this.above.setPointerCapture(e.pointerId); seek(time(e)); });
    this.above.addEventListener("pointermove", (e) => { this.hover = time(e); if (this.dragged) seek(this.hover); this.cursor(this.now); });
    for (const end of ["pointerup", "pointercancel"]) this.above.addEventListener(end, () => { this.dragged = false; });
    this.above.addEventListener("pointerleave", () => { this.hover = null; this.cursor(this.now); });
  }

  entry(line) {
    const item = this.legend.appendChild(document.createElement("li")), button = item.appendChild(document.createElement("button"));
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.title = "show or hide this line";
    const swatch = button.appendChild(document.createElement("i"));
    swatch.style.background = line.dash !== "solid" ? "repeating-linear-gradient(90deg, var(--own) 0 5px, transparent 5px 8px)" : "var(--own)";
    button.appendChild(document.createElement("span")).textContent = line.label;
    const value = button.appendChild(document.createElement("output"));
    button.addEventListener("click", () => {
      line.hidden = !line.hidden;
      button.setAttribute("aria-pressed", String(!line.hidden));
      this.draw();
      this.cursor(this.now);
    });
    return value;
  }

  time(x) {
    const [t0, t1] = this.range, share = (x - this.left) / (this.width - this.left - this.right);
    return t0 + Math.min(1, Math.max(0, share)) * (t1 - t0);
  }
  x(t) { const [t0, t1] = this.range; return this.left + (t - t0) / (t1 - t0) * (this.width - this.left - this.right); }
  y(v) { return this.bottom - (v - this.low) / (this.high - this.low) * (this.bottom - this.top); }

  extent() {
    let low = Infinity, high = -Infinity;
    for (const line of this.lines) {
      if (line.hidden) continue;
      for (const v of line.y) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
    }
    if (low > high) [low, high] = [0, 1];
    const room = high > low ? 0.06 * (high - low) : Math.max(Math.abs(high) * 0.1, 1e-3);
    [this.low, this.high] = this.plot.range || [low - room, high + room];       // what does not change is not magnified
  }

  canvas(canvas) {
    const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(this.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "11px system-ui, sans-serif";
    return context;
  }

  draw(dark = this.dark) {
    this.dark = dark;
    const box = this.below.parentElement.getBoundingClientRect();
    if (!box.width) return;
    [this.width, this.height] = [box.width, box.height];
    this.extent();
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
    this.lines.forEach((line, k) => { this.legend.children[k].style.setProperty("--own", this.shade(line.colour)); });
    this.colours = { ink: colour("--ink"), soft: colour("--soft"), line: colour("--line"), paper: colour("--paper"), accent: colour("--accent") };
    const c = this.canvas(this.below), rows = ticks(this.low, this.high, Math.max(2, this.height / 34)), [t0, t1] = this.range;
    this.pen = this.canvas(this.above);
    this.left = 10 + Math.max(30, ...rows.map((tick) => c.measureText(tick.text).width));
    const named = this.events.length && this.events.length <= NAMED;
    [this.right, this.top, this.bottom] = [10, named ? 16 : 8, this.height - 20];
    Object.assign(this.mark.style, { top: `${this.top}px`, height: `${this.bottom - this.top}px` });
    c.textBaseline = "middle";
    c.lineWidth = 1;
    const rule = (x0, y0, x1, y1) => { c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1, y1); c.stroke(); };
    for (const tick of rows) {
      const y = Math.round(this.y(tick.value)) + 0.5;
      c.strokeStyle = this.colours.line;
      rule(this.left, y, this.width - this.right, y);
      c.fillStyle = this.colours.soft;
      c.textAlign = "right";
      c.fillText(tick.text, this.left - 5, y);
    }
    c.textAlign = "center";
    const columns = ticks(t0, t1, Math.max(2, this.width / 80));
    columns.forEach((tick, k) => {
      const text = k === columns.length - 1 ? `${tick.text} s` : tick.text, half = c.measureText(text).width / 2;
      c.fillText(text, Math.min(this.x(tick.value), this.width - half - 1), this.bottom + 11);
    });
    c.setLineDash([2, 3]);
    c.strokeStyle = this.colours.soft;
    c.textAlign = "left";
    for (const event of this.events) {
      rule(this.x(event.t), this.top, this.x(event.t), this.bottom);
      const wide = c.measureText(event.name).width, x = this.x(event.t) + 4;
      if (named) c.fillText(event.name, x + wide > this.width ? x - wide - 8 : x, this.top - 8);
    }
    c.save();
    c.beginPath();
    c.rect(this.left, this.top - 2, this.width - this.left - this.right, this.bottom - this.top + 4);
    c.clip();
    c.lineJoin = "round";
    for (const line of this.lines) if (!line.hidden) this.line(c, line);
    c.restore();
  }

  // Colours are chosen for white paper.
  shade(colour) { return this.dark ? `color-mix(in srgb, ${colour} 65%, white)` : colour; }

  line(c, line) {
    c.strokeStyle = this.shade(line.colour);
    c.lineWidth = 1.6;
    c.setLineDash({ solid: [], dashed: [6, 3], dotted: [2, 3], dashdot: [8, 3, 2, 3] }[line.dash]);
    c.beginPath();
    let pen = false;
    for (let i = 0; i < line.t.length; i++) {
      if (!Number.isFinite(line.y[i])) { pen = false; continue; }
      const x = this.x(line.t[i]), y = this.y(line.y[i]);
      if (pen) c.lineTo(x, y); else c.moveTo(x, y);
      pen = true;
    }
    c.stroke();
  }

  // While it plays only the mark moves with every frame: to draw and to lay out text takes a slow machine longer than a scene.
  cursor(now, playing = false, stamp = 0) {
    this.now = now;
    if (!this.pen || !this.seen) return;
    this.mark.style.transform = `translateX(${this.x(now) - 0.75}px)`;
    if (playing && stamp - this.written < 250 && stamp >= this.written) return;
    this.written = stamp;
    const c = this.pen, at = this.hover ?? now;
    c.clearRect(0, 0, this.width, this.height);
    if (this.hover !== null) {
      c.fillStyle = this.colours.soft;
      c.fillRect(Math.round(this.x(this.hover)), this.top, 1, this.bottom - this.top);
    }
    this.lines.forEach((line, k) => {
      const v = interpolated(line, at);
      this.values[k].textContent = line.hidden || !Number.isFinite(v) ? "" : short(v, 1e-6 * (this.high - this.low));
      if (line.hidden || !Number.isFinite(v) || (playing && this.hover === null)) return;
      c.beginPath();
      c.arc(this.x(at), this.y(v), 3.2, 0, 2 * Math.PI);
      c.fillStyle = this.shade(line.colour);
      c.fill();
      c.lineWidth = 1.5;
      c.strokeStyle = this.colours.paper;
      c.stroke();
    });
    if (this.hover === null) return;
    const text = `t = ${short(this.hover)} s`, wide = c.measureText(text).width + 8, x = this.x(this.hover);
    const from = x + wide + 8 > this.width ? x - wide - 4 : x + 4;
    c.fillStyle = this.colours.paper;
    c.fillRect(from, this.top, wide, 15);
    c.fillStyle = this.colours.ink;
    c.textBaseline = "middle";
    c.fillText(text, from + 4, this.top + 8);
  }
}

function interpolated(line, at) {
  const { t, y } = line;
  let low = 0, high = t.length - 1;
  if (!(at >= t[low] - 1e-6 && at <= t[high] + 1e-6)) return NaN;
  while (high - low > 1) { const middle = (low + high) >> 1; if (t[middle] <= at) low = middle; else high = middle; }
  const share = t[high] > t[low] ? (at - t[low]) / (t[high] - t[low]) : 0;
  return share >= 1 ? y[high] : share <= 0 ? y[low] : y[low] + share * (y[high] - y[low]);
}

// With four digits; what is least beside the range of its plot is nothing.
function short(x, least = 0) { return Math.abs(x) <= least ? "0" : Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5 ? x.toExponential(2) : String(+x.toPrecision(4)); }

// Round numbers between two others, about so many.
function ticks(low, high, about) {
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((k) => k * power >= rough * (1 - 1e-9)) * power, out = [];
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), large = Math.max(Math.abs(low), Math.abs(high)) >= 1e5 || digits > 5;
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    const value = k * step;
    out.push({ value, text: large ? (k ? value.toExponential(Math.max(0, Math.ceil(Math.log10(Math.abs(value) / step) - 1e-9))) : "0") : value.toFixed(digits) });
  }
  return out;
}
