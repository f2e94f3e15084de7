// Light by vertex, without shadows: what slow machines draw while something moves.
const PLAIN = {
  vertex: `
    uniform vec3 up, sun, eye;
    varying vec3 shade;
    void main() {
      #ifdef USE_INSTANCING
        mat3 m = mat3(instanceMatrix);
        vec4 world = modelMatrix * (instanceMatrix * vec4(position, 1.0));
        vec3 n = normalize(mat3(modelMatrix) * (m * (normal / vec3(dot(m[0], m[0]), dot(m[1], m[1]), dot(m[2], m[2])))));
      #else
        vec4 world = vec4(position, 1.0);
        vec3 n = normalize(normal);
      #endif
      float light = mix(0.20, 0.62, 0.5 + 0.5 * dot(n, up)) + 0.62 * max(dot(n, sun), 0.0) + 0.18 * max(dot(n, eye), 0.0);
      vec3 own = vec3(1.0);
      #ifdef USE_INSTANCING_COLOR
        own = instanceColor;
      #endif
      #ifdef USE_COLOR
        own *= color;
      #endif
      shade = sqrt(clamp(own * light, 0.0, 1.0));                        // nearly the colours of a screen
      gl_Position = projectionMatrix * viewMatrix * world;
    }`,
  fragment: "uniform float opacity; varying vec3 shade; void main() { gl_FragColor = vec4(shade, opacity); }",
};

// What is drawn: parts that look alike in one call each, spans, lines, light; in the colours of the page.
const MANY = 100, SMALL = 24;                                        // of so many, those thinner than so many pixels may be boxes
const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0).elements;

class Drawing {
  constructor(data, array, canvas, context) {
    this.data = data;
    this.array = array;
    this.uniforms = { up: { value: new THREE.Vector3(...data.up) }, sun: { value: new THREE.Vector3() }, eye: { value: new THREE.Vector3() } };
    this.window = { value: new THREE.Vector2(1, 1) };                  // half its size, in pixels of the page
    this.fine = true;
    this.renderer = new THREE.WebGLRenderer({ canvas, context, alpha: true });
    this.renderer.outputEncoding = THREE.sRGBEncoding;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.shadowMap.enabled = true;
    this.scene = new THREE.Scene();
    this.geometries = data.geometries.map((g) => this.geometry(g));
    this.things = [];                                              // {object, layer, run, update}
    this.bodies = [];                                              // {mesh, index, colour, run, body}
    this.runs = data.runs.map((run, k) => this.run(run, k));
    this.light();
  }

  geometry(g) {
    const out = new THREE.BufferGeometry(), from = this.array(g.vertices), vertices = new Float32Array(from.length);
    for (let i = 0; i < from.length; i++) vertices[i] = g.low[i % 3] + g.across[i % 3] * from[i] / 65535;
    out.setAttribute("position", new THREE.BufferAttribute(vertices, 3));
    out.setAttribute("normal", new THREE.BufferAttribute(this.array(g.normals), 3, true));
    out.setIndex(new THREE.BufferAttribute(this.array(g.faces), 1));
    if (g.colours) {
      const colours = Float32Array.from(this.array(g.colours), (x) => linear(x / 255));
      out.setAttribute("color", new THREE.BufferAttribute(colours, 3));
    }
    return out;
  }

  light() {
    const { up, cameras: [first], low, high, size } = this.data, z = new THREE.Vector3(...up);
    const front = new THREE.Vector3(...first.position).sub(new THREE.Vector3(...first.target)).normalize(), side = new THREE.Vector3().crossVectors(z, front);
    this.sky = new THREE.HemisphereLight(0xffffff, 0x8d8d8d, 0.62);
    this.sky.position.copy(z);
    this.sun = new THREE.DirectionalLight(0xffffff, 0.62);
    this.towards = new THREE.Vector3().addScaledVector(z, 1.3).addScaledVector(side, -0.55).addScaledVector(front, 0.45).normalize();
    this.reach = Math.min(0.6 * new THREE.Vector3(...high).distanceTo(new THREE.Vector3(...low)), 3 * size);
    const shadow = this.sun.shadow;
    shadow.camera.left = shadow.camera.bottom = -this.reach;
    shadow.camera.right = shadow.camera.top = this.reach;
    shadow.camera.near = 0.1 * this.reach;
    shadow.camera.far = 6 * this.reach;
    shadow.mapSize.set(2048, 2048);
    shadow.radius = 5;
    shadow.normalBias = 0.004 * this.reach;
    this.sun.castShadow = true;
    this.lamp = new THREE.DirectionalLight(0xffffff, 0.18);          // carried by the camera: nothing it sees is black
    this.scene.add(this.sky, this.sun, this.sun.target, this.lamp, this.lamp.target);
  }

  run(run, k) {
    const motion = new Motion(run, this.array);
    for (const group of run.parts) this.parts(group, motion, k);
    for (const group of run.spans) this.spans(group, motion, k);
    this.lines(run.lines, k);
    return motion;
  }

  // Bodies are seen through while something inside them is shown.
  fade(mesh, share) {
    const { fine, plain, opacity, boxes } = mesh.userData, now = opacity * share, clear = now < 1;
    for (const material of [fine, plain, boxes && boxes.mesh.material]) {
      if (!material) continue;
      Object.assign(material, { transparent: clear, depthWrite: !clear, needsUpdate: material.transparent !== clear });
      if (material.uniforms) material.uniforms.opacity.value = now;
      else material.opacity = now;
    }
    mesh.castShadow = !clear;
    mesh.renderOrder = clear ? 1 : 0;
  }

  // One mesh of many instances.
  mesh(group, k) {
    const ground = group.layer === "ground", clear = group.opacity < 1, painted = !!this.data.geometries[group.geometry].colours;
    const material = ground ? new THREE.ShadowMaterial({ opacity: 0.22, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 })
      : new THREE.MeshStandardMaterial({
        roughness: 0.5, metalness: 0.08, vertexColors: painted, transparent: clear, opacity: group.opacity, depthWrite: !clear,
      });
    const colours = this.array(group.colour), count = colours.length / 3;
    const mesh = new THREE.InstancedMesh(this.geometries[group.geometry], material, count);
    if (group.mirrored) mesh.scale.x = -1;                           // the renderer then knows which side is outside
    mesh.frustumCulled = false;                                      // its instances are anywhere
    mesh.castShadow = !ground && !clear;
    mesh.receiveShadow = ground || !clear;
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    if (!ground) {
      const white = new THREE.Color(1, 1, 1);
      for (let i = 0; i < count; i++) {
        const [r, g, b] = colours.subarray(3 * i, 3 * i + 3);
        mesh.setColorAt(i, painted ? white : new THREE.Color(linear(r / 255), linear(g / 255), linear(b / 255)));
      }
    }
    mesh.userData.fine = material;
    mesh.userData.plain = ground ? null : new THREE.ShaderMaterial({
      vertexShader: PLAIN.vertex, fragmentShader: PLAIN.fragment, vertexColors: painted, transparent: clear, depthWrite: !clear,
      uniforms: { ...this.uniforms, opacity: { value: group.opacity } },
    });
    if (count >= MANY && !painted && !ground) {
      mesh.userData.boxes = new Boxes(mesh, this.data.geometries[group.geometry], mesh.userData.plain.clone());
      Object.assign(mesh.userData.boxes.mesh.material.uniforms, this.uniforms);
      this.scene.add(mesh.userData.boxes.mesh);
    }
    mesh.renderOrder = ground ? -1 : clear ? 1 : 0;
    Object.assign(mesh.userData, { names: group.names, run: k, opacity: group.opacity });
    this.scene.add(mesh);
    return mesh;
  }

  parts(group, motion, k) {
    const mesh = this.mesh(group, k), carrier = this.array(group.carrier), at = this.array(group.at), to = mesh.instanceMatrix.array;
    const flip = group.mirrored ? -1 : 1;
    const place = (only) => {
      for (let i = 0; i < carrier.length; i++) {
        const body = carrier[i], a = 12 * i, o = 16 * i, m = motion.poses, p = 12 * body;
        if ((body < 0) !== only) continue;
        for (let c = 0; c < 4; c++) {
          const x = at[a + c], y = at[a + 4 + c], z = at[a + 8 + c], one = c === 3 ? 1 : 0;
          for (let r = 0; r < 3; r++) {
            to[o + 4 * c + r] = (r ? 1 : flip) * (body < 0 ? at[a + 4 * r + c]
              : m[p + 4 * r] * x + m[p + 4 * r + 1] * y + m[p + 4 * r + 2] * z + one * m[p + 4 * r + 3]);
          }
          to[o + 4 * c + 3] = one;
        }
      }
      mesh.instanceMatrix.needsUpdate = true;
    };
    place(true);                                                     // what stands still, once
    const moves = carrier.some((body) => body >= 0);
    this.things.push({ object: mesh, layer: group.layer, run: k, update: moves ? () => place(false) : null });
    mesh.userData.carrier = carrier;
    const extent = this.data.geometries[group.geometry].across;
    mesh.userData.thick = [0, 1, 2].map((c) => extent[c] * Math.hypot(at[c], at[4 + c], at[8 + c])).sort((a, b) => a - b)[1];
    if (mesh.instanceColor) {
      const names = this.data.runs[k].bodies;                        // a place of a flexible body has the name of the body
      carrier.forEach((row, i) => this.bodies.push({ mesh, i, run: k, body: names.indexOf(names[row]), colour: mesh.instanceColor.array.slice(3 * i, 3 * i + 3) }));
    }
  }

  spans(group, motion, k) {
    const mesh = this.mesh(group, k), { array } = this, to = mesh.instanceMatrix.array;
    const width = array(group.width), share = array(group.share), vector = group.vector && integrated(group.vector.series, array);
    const [c0, p0, c1, p1] = [group.start.carrier, group.start.point, group.end.carrier, group.end.point].map(array);
    const a = [0, 0, 0], b = [0, 0, 0], rows = motion.t.length, sense = new Int8Array(width.length);
    const update = () => {
      for (let i = 0; i < width.length; i++) {
        motion.point(c0[i], p0[3 * i], p0[3 * i + 1], p0[3 * i + 2], a);
        if (vector) {                                              // forces may jump: straight from one key frame to the next
          const at = motion.key, next = Math.min(at + 1, rows - 1);
          for (let r = 0; r < 3; r++) {
            const from = (3 * i + r) * rows;
            b[r] = a[r] + group.vector.unit * (vector[from + at] * (1 - motion.share) + vector[from + next] * motion.share);
          }
        } else motion.point(c1[i], p1[3 * i], p1[3 * i + 1], p1[3 * i + 2], b);
        this.stretch(to, 16 * i, a, b, share[2 * i], share[2 * i + 1], width[i], sense, i);
      }
      mesh.instanceMatrix.needsUpdate = true;
    };
    mesh.userData.thick = 2 * width[0];
    this.things.push({ object: mesh, layer: group.layer, run: k, update });
  }

  // z from one point to the other, x and y turned from the world's as little as possible, so that a coil does not spin.
  stretch(to, o, a, b, from, until, width, sense, i) {
    const way = [b[0] - a[0], b[1] - a[1], b[2] - a[2]], length = Math.hypot(...way);
    if (length < 1e-9 * this.data.size) { to.set(HIDDEN, o); return; }
    sense[i] = sense[i] || (way[2] < 0 ? -1 : 1);
    const s = sense[i], x = s * way[0] / length, y = s * way[1] / length, z = s * way[2] / length, f = 1 / Math.max(1 + z, 1e-6);
    to[o] = width * (1 - x * x * f); to[o + 1] = -width * x * y * f; to[o + 2] = -width * x; to[o + 3] = 0;
    to[o + 4] = -s * width * x * y * f; to[o + 5] = s * width * (1 - y * y * f); to[o + 6] = -s * width * y; to[o + 7] = 0;
    for (let r = 0; r < 3; r++) { to[o + 8 + r] = way[r] * (until - from); to[o + 12 + r] = a[r] + from * way[r]; }
    to[o + 11] = 0; to[o + 15] = 1;
  }

  // Lines of one layer and colour in one call. Those of the ground fade with the distance from its middle.
  lines(lines, k) {
    const groups = new Map();
    for (const line of lines) {
      const key = `${line.layer} ${line.colour}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(line);
    }
    for (const group of groups.values()) {
      const { layer, colour } = group[0], ground = layer === "ground";
      const object = ground ? this.grid(group) : this.paths(group, colour);
      this.scene.add(object);
      this.things.push({ object, layer, run: k, update: null });
    }
  }

  grid(group) {
    const ends = group.map((line) => this.array(line.points)), PIECES = 24;
    const middle = new THREE.Vector3(), point = new THREE.Vector3(), a = new THREE.Vector3(), b = new THREE.Vector3();
    for (const p of ends) for (let i = 0; i < p.length; i += 3) middle.add(point.set(p[i], p[i + 1], p[i + 2]).divideScalar(p.length / 3 * ends.length));
    const radius = Math.max(...ends.map((p) => point.set(p[0], p[1], p[2]).distanceTo(middle))) / Math.SQRT2;
    const pieces = [], alphas = [];
    for (const p of ends) {
      for (let i = 0; i + 3 < p.length; i += 3) {
        a.fromArray(p, i); b.fromArray(p, i + 3);
        for (let j = 0; j < PIECES; j++) {
          for (const end of [j, j + 1]) {
            point.lerpVectors(a, b, end / PIECES);
            pieces.push(point.x, point.y, point.z);
            alphas.push(Math.max(0, 1 - Math.pow(point.distanceTo(middle) / radius, 2)));
          }
        }
      }
    }
    this.gridLines = ribbons(pieces, alphas, [0.5, 0.5, 0.5], 0.5, this.window);
    return this.gridLines;
  }

  paths(group, colour) {
    const pieces = [];
    for (const line of group) {
      const p = this.array(line.points);
      for (let i = 0; i + 3 < p.length; i += 3) {
        const piece = p.subarray(i, i + 6);
        if (piece.every(Number.isFinite)) pieces.push(...piece);
      }
    }
    return ribbons(pieces, null, colour, 1.1, this.window);
  }

  show(layers, runs) {
    const inside = this.data.through.layers.some((layer) => layers.has(layer));
    for (const { object, layer } of this.things) if (layer === "bodies" && object.userData.fine) this.fade(object, inside ? this.data.through.opacity : 1);
    for (const thing of this.things) thing.object.visible = thing.on = layers.has(thing.layer) && (thing.layer === "ground" || runs.has(thing.run));
  }

  // The parts of one body in the colour of the page's accent; none for −1.
  select(body, accent) {
    const meshes = new Set();
    for (const part of this.bodies) {
      const colour = part.body === body && body >= 0 ? accent.toArray() : part.colour;
      part.mesh.instanceColor.array.set(colour, 3 * part.i);
      meshes.add(part.mesh);
    }
    for (const mesh of meshes) {
      mesh.instanceColor.needsUpdate = true;
      if (mesh.userData.boxes) mesh.userData.boxes.paint();
    }
  }

  move(time) {
    for (const motion of this.runs) motion.at(time);
    this.update();
  }

  update() {
    for (const thing of this.things) if (thing.update && thing.on) thing.update();
  }

  colours(line, dark) {
    if (this.gridLines) this.gridLines.material.uniforms.colour.value.set(line);
    this.sky.groundColor.set(dark ? 0x5a6068 : 0x9a9a9a);
    for (const thing of this.things) if (thing.object.material.isShadowMaterial) thing.object.material.opacity = dark ? 0.5 : 0.2;
  }

  // With light by pixel and shadows; or plainly, and what is many and not large as boxes.
  draw(orbit, fine) {
    const eye = orbit.camera.position;
    this.sun.target.position.copy(orbit.target);
    this.sun.position.copy(orbit.target).addScaledVector(this.towards, 3 * this.reach);
    this.lamp.position.copy(eye);
    this.lamp.target.position.copy(orbit.target);
    this.uniforms.sun.value.copy(this.towards);
    this.uniforms.eye.value.copy(eye).sub(orbit.target).normalize();
    if (fine !== this.fine) {
      this.fine = fine;
      this.renderer.shadowMap.autoUpdate = fine;
      for (const { object } of this.things) {
        if (object.userData.plain) object.material = fine ? object.userData.fine : object.userData.plain;
        else if (object.isInstancedMesh) object.material.visible = fine;                // the shadow on the ground
      }
    }
    this.window.value.set(this.renderer.domElement.clientWidth / 2, this.renderer.domElement.clientHeight / 2);
    const pixel = 2 * orbit.distance * Math.tan(this.data.field * Math.PI / 360) / this.renderer.domElement.clientHeight;
    for (const { object, on } of this.things) {
      const { boxes, thick } = object.userData;
      if (!boxes) continue;
      boxes.mesh.visible = on && !fine && thick < SMALL * pixel;
      object.visible = on && !boxes.mesh.visible;
      if (boxes.mesh.visible) boxes.update();
    }
    this.renderer.render(this.scene, orbit.camera);
  }

  // {run, body, name, point} of the part that a pixel shows, or null.
  pick(x, y, orbit) {
    const size = this.renderer.getSize(new THREE.Vector2()), ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * x / size.x - 1, 1 - 2 * y / size.y), orbit.camera);
    const solid = this.things.filter((t) => t.object.isInstancedMesh && t.on && t.layer !== "ground").map((t) => t.object);
    const hit = ray.intersectObjects(solid, false)[0];
    if (!hit) return null;
    const { names, run, carrier } = hit.object.userData;
    return { run, body: carrier ? carrier[hit.instanceId] : -1, name: names[hit.instanceId], point: hit.point };
  }
}

// From the values of colours on screens to those that light is computed with.
function linear(x) { return x <= 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4); }
