// The tree: one form is shown at a time, the one in the address if there is one. Its matrix is drawn when it is shown.
const matrices = JSON.parse(document.getElementById("matrices").textContent);
const links = [...document.querySelectorAll("nav a")];
const sections = [...document.querySelectorAll("section[data-form]")];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function drawn(section) {
  const m = matrices[section.dataset.form], canvas = section.querySelector("canvas");
  if (!m || !canvas) return;
  const sorted = section.querySelector(".sorted").checked;
  const place = new Array(m.n), order = sorted ? m.order : m.order.map((_, k) => k);
  order.forEach((k, at) => { place[k] = at; });
  const head = 18, gap = Math.max(3, m.n * 0.03), width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
  const column = Math.max(1, m.n / 40), cell = Math.min(28, (width - head - 1) / (m.n + gap + column));
  const height = head + m.n * cell + 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  c.fillStyle = colour("--card");
  c.fillRect(head, head, m.n * cell, m.n * cell);
  c.fillRect(head + (m.n + gap) * cell, head, column * cell, m.n * cell);
  c.font = "12px system-ui, sans-serif";
  c.strokeStyle = colour("--line");
  c.fillStyle = colour("--soft");
  c.textAlign = "center";
  if (!sorted) for (const [letter, first, count] of m.groups) {
    const at = head + first * cell, long = count * cell;
    c.strokeRect(at, head, long, m.n * cell);
    c.strokeRect(head, at, m.n * cell, long);
    if (long > 14) { c.fillText(letter, at + long / 2, 12); c.fillText(letter, 8, at + long / 2 + 4); }
  }
  c.fillStyle = colour("--accent");
  const size = Math.max(cell - (cell > 4 ? 1 : 0), 1);
  m.i.forEach((i, k) => c.fillRect(head + place[m.j[k]] * cell, head + place[i] * cell, size, size));
  c.fillStyle = colour("--good");
  m.b.forEach((x, i) => { if (x) c.fillRect(head + (m.n + gap) * cell, head + place[i] * cell, column * cell, size); });
  if (!m.i.length) c.fillText("too many numbers to draw", width / 2, height / 2);
  canvas.seen = { head, cell, order, gap };
}

function told(section, event) {
  const m = matrices[section.dataset.form], canvas = section.querySelector("canvas"), box = canvas.getBoundingClientRect();
  const { head, cell, order, gap } = canvas.seen;
  const near = (x) => Math.floor((x - head) / cell);
  const row = near(event.clientY - box.top), column = near(event.clientX - box.left);
  if (row < 0 || row >= m.n || column < 0) return;
  const i = order[row], said = section.querySelector(".value");
  if (column >= m.n) {
    if (column >= m.n + gap && m.b.length) said.textContent = `right-hand side, row of ${m.names[i]}: ${m.b[i]}`;
    return;
  }
  const j = order[column];
  canvas.found ??= new Map(m.i.map((r, k) => [r * m.n + m.j[k], m.x[k]]));
  said.textContent = `row of ${m.names[i]}, column of ${m.names[j]}: ${canvas.found.get(i * m.n + j) ?? 0}`;
}

function show(name, scroll) {
  const known = sections.some((s) => s.dataset.form === name) ? name : sections[0].dataset.form;
  links.forEach((a) => { if (a.dataset.form === known) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current"); });
  sections.forEach((s) => { s.hidden = s.dataset.form !== known; });
  const section = sections.find((s) => !s.hidden);
  drawn(section);
  if (scroll && innerWidth < 832) section.scrollIntoView();
}

const redraw = () => drawn(sections.find((s) => !s.hidden));
links.forEach((a) => a.addEventListener("click", (event) => {
  event.preventDefault();
  history.replaceState(null, "", a.hash);
  show(a.dataset.form, true);
}));
sections.forEach((s) => {
  s.querySelector(".sorted")?.addEventListener("change", () => drawn(s));
  for (const kind of ["pointermove", "pointerdown"]) s.querySelector("canvas")?.addEventListener(kind, (event) => told(s, event));
});
addEventListener("resize", redraw);
addEventListener("hashchange", () => show(location.hash.slice(1), false));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
show(location.hash.slice(1) || "extended", false);
