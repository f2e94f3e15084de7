// Lines of a width in pixels: a quad for each piece, turned towards the viewer. Browsers draw lines of their own one pixel wide.
const RIBBON = {
  vertex: `
    attribute vec3 start, end;
    attribute vec2 alphas;
    uniform vec2 window;
    uniform float width;
    varying float alpha;
    void main() {
      vec4 a = projectionMatrix * viewMatrix * vec4(start, 1.0), b = projectionMatrix * viewMatrix * vec4(end, 1.0);
      float near = 1e-6 * (abs(a.w) + abs(b.w));                        // what is behind the viewer is cut off
      if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
      if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
      vec2 along = (b.xy / b.w - a.xy / a.w) * window, across = normalize(vec2(-along.y, along.x) + vec2(1e-9, 0.0));
      vec4 here = mix(a, b, position.x);
      here.xy += position.y * width * across / window * here.w;
      alpha = mix(alphas.x, alphas.y, position.x);
      gl_Position = here;
    }`,
  fragment: "uniform vec3 colour; uniform float opacity; varying float alpha; void main() { gl_FragColor = vec4(colour, opacity * alpha); }",
};

// pieces: [x y z of one end, x y z of the other, …]; alphas: [of one end, of the other, …], or none.
function ribbons(pieces, alphas, colour, width, window) {
  const count = pieces.length / 6, geometry = new THREE.BufferGeometry(), index = new Uint32Array(6 * count);
  const corner = new Float32Array(12 * count), start = new Float32Array(12 * count), end = start.slice(), shade = new Float32Array(8 * count).fill(1);
  for (let i = 0; i < count; i++) {                                     // no instances: boxes.js says why
    index.set([0, 1, 2, 0, 2, 3].map((k) => 4 * i + k), 6 * i);
    corner.set([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0], 12 * i);
    for (let k = 0; k < 4; k++) {
      for (let r = 0; r < 3; r++) {
        start[12 * i + 3 * k + r] = pieces[6 * i + r];
        end[12 * i + 3 * k + r] = pieces[6 * i + 3 + r];
      }
      if (alphas) { shade[8 * i + 2 * k] = alphas[2 * i]; shade[8 * i + 2 * k + 1] = alphas[2 * i + 1]; }
    }
  }
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  for (const [name, numbers, size] of [["position", corner, 3], ["start", start, 3], ["end", end, 3], ["alphas", shade, 2]]) {
    geometry.setAttribute(name, new THREE.BufferAttribute(numbers, size));
  }
  const material = new THREE.ShaderMaterial({
    vertexShader: RIBBON.vertex, fragmentShader: RIBBON.fragment, side: THREE.DoubleSide, transparent: true, depthWrite: false,
    uniforms: { window, width: { value: width }, colour: { value: new THREE.Color(colour[0], colour[1], colour[2]) }, opacity: { value: colour[3] ?? 1 } },
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  return mesh;
}
