// Many small parts as boxes of one mesh, put in place here: software renderers draw a thousand instances as a thousand meshes.
const CORNERS = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [i & 1, (i >> 1) & 1, i >> 2]);
const SIDES = [0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5];

class Boxes {
  constructor(instanced, { low, across }, material) {
    const { count } = instanced, geometry = new THREE.BufferGeometry(), index = new Uint32Array(SIDES.length * count);
    this.instanced = instanced;
    this.corners = CORNERS.map((corner) => corner.map((end, r) => low[r] + end * across[r]));
    this.normals = CORNERS.map((corner) => corner.map((end, r) => (end - 0.5) / across[r]));
    for (let i = 0; i < count; i++) for (let k = 0; k < SIDES.length; k++) index[SIDES.length * i + k] = 8 * i + SIDES[k];
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    for (const name of ["position", "normal", "color"]) {
      geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(24 * count), 3).setUsage(THREE.DynamicDrawUsage));
    }
    material.vertexColors = true;
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = this.mesh.visible = false;
    this.paint();
  }

  paint() {
    const { color } = this.mesh.geometry.attributes, from = this.instanced.instanceColor.array;
    for (let i = 0; i < color.count; i++) for (let r = 0; r < 3; r++) color.array[3 * i + r] = from[3 * (i >> 3) + r];
    color.needsUpdate = true;
  }

  update() {
    const { position, normal } = this.mesh.geometry.attributes, p = position.array, n = normal.array;
    const m = this.instanced.instanceMatrix.array, flip = this.instanced.scale.x;
    for (let i = 0, to = 0; i < this.instanced.count; i++) {
      const o = 16 * i, square = [0, 4, 8].map((c) => m[o + c] ** 2 + m[o + c + 1] ** 2 + m[o + c + 2] ** 2 || 1);
      for (let k = 0; k < 8; k++) {
        const [x, y, z] = this.corners[k], [a, b, c] = this.normals[k], u = a / square[0], v = b / square[1], w = c / square[2];
        for (let r = 0; r < 3; r++, to++) {
          const sign = r ? 1 : flip;
          p[to] = sign * (m[o + r] * x + m[o + 4 + r] * y + m[o + 8 + r] * z + m[o + 12 + r]);
          n[to] = sign * (m[o + r] * u + m[o + 4 + r] * v + m[o + 8 + r] * w);
        }
      }
    }
    position.needsUpdate = normal.needsUpdate = true;
  }
}
