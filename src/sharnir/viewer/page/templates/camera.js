// The camera goes around a target: drag, wheel, pinch; a double click centres what it hits.
const STEEPEST = 89.9 * Math.PI / 180;

class Orbit {
  constructor(data, canvas, changed) {
    this.data = data;
    this.canvas = canvas;
    this.changed = changed;
    this.up = new THREE.Vector3(...data.up);
    this.camera = new THREE.PerspectiveCamera(data.field, 1, 0.01, 1000);
    this.camera.up.copy(this.up);
    this.front = new THREE.Vector3(...data.cameras[0].position).sub(new THREE.Vector3(...data.cameras[0].target)).normalize();
    this.rise = Math.asin(Math.min(1, Math.max(-1, this.front.dot(this.up))));
    const flat = this.front.clone().addScaledVector(this.up, -this.front.dot(this.up));   // angles are told from here
    this.front = flat.length() > 0.01 ? flat.normalize() : new THREE.Vector3(...data.cameras[0].up).negate();
    this.aside = new THREE.Vector3().crossVectors(this.up, this.front);
    this.target = new THREE.Vector3();
    this.touched = false;
    this.pointers = new Map();
    this.listen();
  }

  // The whole motion in view: between the cameras for windows of the two nearest aspects.
  reset() {
    const { cameras } = this.data, aspect = this.camera.aspect;
    const next = Math.max(1, cameras.findIndex((one) => one.aspect >= aspect)), [a, b] = [cameras[next - 1], cameras[next]];
    const share = Math.min(1, Math.max(0, Math.log(aspect / a.aspect) / Math.log(b.aspect / a.aspect)));
    const mixed = (key) => new THREE.Vector3(...a[key]).lerp(new THREE.Vector3(...b[key]), share);
    this.target.copy(mixed("target"));
    this.distance = mixed("position").distanceTo(this.target);
    this.azimuth = 0;
    this.elevation = Math.min(STEEPEST, Math.max(-STEEPEST, this.rise));
    this.touched = false;
    this.apply();
  }

  resize(width, height) {
    this.camera.aspect = width / height;
    if (this.touched) this.apply(); else this.reset();
  }

  apply() {
    const { camera, target, distance, elevation, azimuth } = this;
    camera.position.copy(target)
      .addScaledVector(this.up, distance * Math.sin(elevation))
      .addScaledVector(this.front, distance * Math.cos(elevation) * Math.cos(azimuth))
      .addScaledVector(this.aside, distance * Math.cos(elevation) * Math.sin(azimuth));
    camera.lookAt(target);
    camera.near = distance / 100;
    camera.far = distance + 100 * Math.max(distance, this.data.size);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    this.changed();
  }

  turn(dx, dy) {
    this.azimuth -= 0.006 * dx;
    this.elevation = Math.min(STEEPEST, Math.max(-STEEPEST, this.elevation + 0.006 * dy));
    this.touch();
  }

  pan(dx, dy) {
    const metres = 2 * this.distance * Math.tan(this.data.field * Math.PI / 360) / this.canvas.clientHeight;
    const right = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
    const above = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
    this.target.addScaledVector(right, -dx * metres).addScaledVector(above, dy * metres);
    this.touch();
  }

  // What is under the pointer stays under it.
  zoom(factor, x, y) {
    const dx = x - this.canvas.clientWidth / 2, dy = y - this.canvas.clientHeight / 2;
    this.pan(-dx, -dy);
    this.distance = Math.min(1e3 * this.data.size, Math.max(1e-3 * this.data.size, this.distance * factor));
    this.pan(dx, dy);
  }

  touch() { this.touched = true; this.apply(); }

  listen() {
    const { canvas, pointers } = this, place = (e) => ({ x: e.offsetX, y: e.offsetY });
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); pointers.set(e.pointerId, place(e)); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => pointers.delete(e.pointerId));
    canvas.addEventListener("pointermove", (e) => {
      const was = pointers.get(e.pointerId), now = place(e);
      if (!was) return;
      pointers.set(e.pointerId, now);
      const others = [...pointers].filter(([id]) => id !== e.pointerId).map(([, at]) => at);
      if (others.length) {                                        // two fingers: the middle pans, the distance zooms
        const other = others[0], reach = (p) => Math.hypot(p.x - other.x, p.y - other.y) || 1;
        this.pan((now.x - was.x) / 2, (now.y - was.y) / 2);
        this.zoom(reach(was) / reach(now), (now.x + other.x) / 2, (now.y + other.y) / 2);
      } else if (e.buttons & 6 || e.shiftKey) this.pan(now.x - was.x, now.y - was.y);
      else this.turn(now.x - was.x, now.y - was.y);
    });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp((e.deltaMode ? 30 : 1) * e.deltaY * 0.0012), e.offsetX, e.offsetY);
    }, { passive: false });
  }
}
