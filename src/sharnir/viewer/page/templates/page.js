// The page: the drawing, the player, the plots and the switches, joined.
const SLOW = 1 / 32;                                                         // seconds of a frame beyond which less is drawn
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;      // renderers without a graphics processor
const PATIENCE = 100;
const REST = 250;                                                            // ms without motion after which all is drawn again

async function main() {
  const { table: data, array } = await unpacked(document.getElementById("data").textContent);
  const canvas = document.getElementById("view"), stage = canvas.parentElement;
  const slow = SOFTWARE.test(renderer_name());
  const context = canvas.getContext("webgl2", { antialias: !slow, alpha: true, powerPreference: "high-performance" });
  const times = data.runs.map((run) => array(run.t));
  const range = [Math.min(...times.map((t) => t[0])), Math.max(...times.map((t) => t[t.length - 1]))];
  let turned = -1e9, resting = 0, waiting = false, frames = 0, drawing = null, orbit = null, followed = -1, before = null, selected = -1;

  const player = new Player(range, () => ask());
  const plots = data.plots.map((plot) => new Plot(plot, array, data.events, range, (t) => player.seek(t)));
  const place = document.getElementById("plots");
  if (place) place.append(...plots.map((plot) => plot.figure));
  if (context) {
    drawing = new Drawing(data, array, canvas, context);
    orbit = new Orbit(data, canvas, () => { turned = performance.now(); ask(); });
  } else document.getElementById("without").hidden = false;

  // --- frames ---------------------------------------------------------------------------------------------------------
  function ask() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(frame);
  }

  function frame(stamp) {
    waiting = false;
    player.tick(stamp);                                                       // asks for the next one while it plays
    if (drawing) {
      drawing.move(player.time);
      follow();
      const moving = player.playing || stamp - turned < REST, fine = pace.level === 0 || !moving;
      resolution(fine);
      drawing.draw(orbit, fine);
      frames += 1;
      if (!fine && !player.playing) rest();
    }
    if (!player.playing || player.painted === stamp || !player.patience) for (const plot of plots) plot.cursor(player.time, player.playing, stamp);
    quality(stamp);
  }

  function rest() { clearTimeout(resting); resting = setTimeout(ask, REST + 20); }

  // A machine that cannot keep up draws plainly what moves, and then fewer pixels of it.
  const pace = { last: 0, sum: 0, count: 0, level: slow ? 1 : 0 };
  function quality(stamp) {
    const passed = (stamp - pace.last) / 1000;
    pace.last = stamp;
    if (!player.playing || !drawing || passed > 1 || passed <= 0) return;
    pace.sum += passed;
    pace.count += 1;
    if (pace.count < 12 && pace.sum < 1) return;
    if (pace.sum / pace.count > SLOW && pace.level < 2) pace.level += 1;
    player.patience = pace.level ? PATIENCE : 0;                              // the browser takes longer for a clock than for a scene
    pace.sum = pace.count = 0;
  }

  function resolution(fine) {
    const own = window.devicePixelRatio || 1, ratio = fine ? (slow ? 2 : Math.min(2, own)) : pace.level > 1 ? 0.7 : Math.min(1, own);
    if (ratio !== drawing.renderer.getPixelRatio()) drawing.renderer.setPixelRatio(ratio);
  }

  function resize() {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!drawing || !width || !height) return;
    drawing.renderer.setSize(width, height, false);
    orbit.resize(width, height);
  }

  function follow() {
    const now = followed < 0 ? null : drawing.runs[0].point(followed, 0, 0, 0, [0, 0, 0]);
    if (now && before && now.some((x, r) => x !== before[r])) {
      orbit.target.add(new THREE.Vector3(...now.map((x, r) => x - before[r])));
      const again = waiting;
      waiting = true;                                                        // moving along asks for no frame of its own
      orbit.apply();
      waiting = again;
    }
    before = now;
  }

  // --- switches -------------------------------------------------------------------------------------------------------
  const boxes = (name) => [...document.querySelectorAll(`input[data-${name}]`)];
  function switched() {
    if (!drawing) return;
    const layers = new Set(boxes("layer").filter((box) => box.checked).map((box) => box.dataset.layer));
    const runs = boxes("run").length ? boxes("run").filter((box) => box.checked).map((box) => Number(box.dataset.run)) : [0];
    drawing.show(layers, new Set(runs));
    drawing.update();
    ask();
  }
  for (const box of [...boxes("layer"), ...boxes("run")]) box.addEventListener("change", switched);

  function select(body, name) {
    selected = body;
    const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
    if (drawing) drawing.select(body, new THREE.Color(accent).convertSRGBToLinear());
    for (const row of document.querySelectorAll("[data-body]")) row.setAttribute("aria-pressed", String(Number(row.dataset.body) === body));
    const label = document.getElementById("picked");
    label.textContent = name || "";
    label.hidden = !name;
    ask();
  }
  for (const row of document.querySelectorAll("[data-body]")) {
    row.addEventListener("click", () => {
      const body = Number(row.dataset.body);
      if (body === selected) select(-1, ""); else select(body, `body ${row.textContent.trim()}`);
    });
  }

  const chosen = document.getElementById("follow");
  if (chosen) chosen.addEventListener("change", () => { followed = Number(chosen.value); before = null; ask(); });
  document.getElementById("reset").addEventListener("click", () => orbit && orbit.reset());
  if (orbit) {
    let down = null;
    canvas.addEventListener("pointerdown", (e) => { down = [e.offsetX, e.offsetY]; });
    canvas.addEventListener("click", (e) => {
      if (!down || Math.hypot(e.offsetX - down[0], e.offsetY - down[1]) > 4) return;     // it was turned
      const hit = drawing.pick(e.offsetX, e.offsetY, orbit);
      select(hit ? hit.body : -1, hit ? hit.name : "");
    });
    canvas.addEventListener("dblclick", (e) => {
      const hit = drawing.pick(e.offsetX, e.offsetY, orbit);
      if (hit) { orbit.target.copy(hit.point); orbit.touch(); }
    });
  }

  tabs();

  // --- colours and sizes ----------------------------------------------------------------------------------------------
  const system = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  function coloured() {
    document.getElementById("theme").setAttribute("aria-pressed", String(dark()));
    const line = getComputedStyle(root).getPropertyValue("--grid").trim();
    if (drawing) drawing.colours(line, dark());
    redraw();
  }
  function redraw() {
    for (const plot of plots) plot.draw(dark());
    ask();
  }
  document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; coloured(); });
  system.addEventListener("change", coloured);
  new ResizeObserver(() => { resize(); ask(); }).observe(stage);
  if (place) new ResizeObserver(redraw).observe(place);

  // --- beginning ------------------------------------------------------------------------------------------------------
  if (chosen) { chosen.value = String(data.follow); followed = data.follow; }
  if (drawing) {
    drawing.move(player.time);
    resize();
  }
  switched();
  coloured();
  player.show();
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();

  // For tests and for whoever embeds the page: what it shows, and a hand on the time.
  window.sharnir = {
    seek(t) { player.pause(); player.seek(t); },
    play: () => player.play(),
    pause: () => player.pause(),
    get time() { return player.time; },
    get playing() { return player.playing; },
    get range() { return [...range]; },
    get frames_drawn() { return frames; },
    get draw_calls() { return drawing.renderer.info.render.calls; },          // of the last frame
    get quality() { return pace.level; },                                     // 0: all always; 1, 2: less while something moves
    // Pixels from the upper left corner of the canvas of a point of a body, by name, at the time that is shown.
    project(body, point = [0, 0, 0], run = 0) {
      drawing.runs[run].at(player.time);
      const at = new THREE.Vector3(...drawing.runs[run].point(data.runs[run].bodies.indexOf(body), ...point, [0, 0, 0]));
      at.project(orbit.camera);
      return [(at.x + 1) / 2 * canvas.clientWidth, (1 - at.y) / 2 * canvas.clientHeight];
    },
    get camera() {
      const { camera, target, up } = orbit;
      return { position: camera.position.toArray(), target: target.toArray(), up: up.toArray(), field: camera.fov, width: canvas.clientWidth, height: canvas.clientHeight };
    },
  };
}

function renderer_name() {
  const gl = document.createElement("canvas").getContext("webgl2"), named = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const name = named ? gl.getParameter(named.UNMASKED_RENDERER_WEBGL) : "";
  if (gl) gl.getExtension("WEBGL_lose_context")?.loseContext();
  return name;
}

// One of several panels at a time; arrows go from one to the next.
function tabs() {
  const all = [...document.querySelectorAll("[role=tab]")];
  const open = (tab) => all.forEach((one) => {
    one.setAttribute("aria-selected", String(one === tab));
    one.tabIndex = one === tab ? 0 : -1;
    document.getElementById(one.getAttribute("aria-controls")).hidden = one !== tab;
  });
  all.forEach((tab, k) => {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      const next = all[(k + step + all.length) % all.length];
      open(next);
      next.focus();
    });
  });
}

main().catch((error) => {
  const place = document.getElementById("without");
  place.textContent = `This page could not be opened here: ${error.message}. It needs a browser of 2023 or later.`;
  place.hidden = false;
});
