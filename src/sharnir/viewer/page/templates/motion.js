// Poses of all bodies at any time, from key frames: one cubic for every number between four of them (keyframes.py).
class Motion {
  constructor(run, array) {
    this.t = array(run.t);
    this.count = run.bodies.length;
    this.position = integrated(run.position, array);
    this.quaternion = integrated(run.quaternion, array);
    this.centre = run.centre;
    this.quantum = run.quantum;
    this.poses = new Float64Array(12 * this.count);           // per body: three rows of rotation | position
    this.key = 0;
    this.share = 0;
  }

  // Four key frames around a time, and their weights.
  weights(at) {
    const t = this.t, last = t.length - 1;
    if (last === 0) return { around: [0, 0, 0, 0], w: [0, 1, 0, 0], k: 0, s: 0 };
    at = Math.min(Math.max(at, t[0]), t[last]);
    let low = 0, high = last;
    while (high - low > 1) { const middle = (low + high) >> 1; if (t[middle] <= at) low = middle; else high = middle; }
    const k = low, first = k === 0, final = k === last - 1;
    const around = [Math.max(k - 1, 0), k, k + 1, Math.min(k + 2, last)];
    const h1 = t[k + 1] - t[k], h0 = first ? h1 : t[k] - t[k - 1], h2 = final ? h1 : t[k + 2] - t[k + 1];
    const s = (at - t[k]) / h1;
    const here = s * (1 - s) * (1 - s) * h1, ahead = s * s * (s - 1) * h1;
    const before = first ? 0 : final ? here - ahead : here, after = final ? 0 : first ? ahead - here : ahead;
    const chord = first && final ? here + ahead : 2 * ((first ? here : 0) + (final ? ahead : 0));
    const w = [
      -before * h1 / (h0 * (h0 + h1)),
      (1 + 2 * s) * (1 - s) * (1 - s) + before * (h1 - h0) / (h0 * h1) - after * h2 / (h1 * (h1 + h2)) - chord / h1,
      s * s * (3 - 2 * s) + before * h0 / (h1 * (h0 + h1)) + after * (h2 - h1) / (h1 * h2) + chord / h1,
      after * h1 / (h2 * (h1 + h2)),
    ];
    return { around, w, k, s };
  }

  // Fill `poses` for a time.
  at(time) {
    const { around: [a, b, c, d], w: [wa, wb, wc, wd], k, s } = this.weights(time);
    const { position: p, quaternion: q, quantum, centre, poses, count } = this, rows = this.t.length;
    this.key = k;
    this.share = s;
    const mix = (x, i) => wa * x[i + a] + wb * x[i + b] + wc * x[i + c] + wd * x[i + d];
    for (let body = 0; body < count; body++) {
      const i = 3 * body * rows, j = 4 * body * rows, o = 12 * body;
      let qw = mix(q, j), qx = mix(q, j + rows), qy = mix(q, j + 2 * rows), qz = mix(q, j + 3 * rows);
      const scale = 1 / (Math.sqrt(qw * qw + qx * qx + qy * qy + qz * qz) || 1);
      qw *= scale; qx *= scale; qy *= scale; qz *= scale;
      poses[o] = 1 - 2 * (qy * qy + qz * qz); poses[o + 1] = 2 * (qx * qy - qw * qz); poses[o + 2] = 2 * (qx * qz + qw * qy);
      poses[o + 4] = 2 * (qx * qy + qw * qz); poses[o + 5] = 1 - 2 * (qx * qx + qz * qz); poses[o + 6] = 2 * (qy * qz - qw * qx);
      poses[o + 8] = 2 * (qx * qz - qw * qy); poses[o + 9] = 2 * (qy * qz + qw * qx); poses[o + 10] = 1 - 2 * (qx * qx + qy * qy);
      poses[o + 3] = centre[0] + quantum * mix(p, i);
      poses[o + 7] = centre[1] + quantum * mix(p, i + rows);
      poses[o + 11] = centre[2] + quantum * mix(p, i + 2 * rows);
    }
  }

  // A point of a body, or of the ground (−1), in the world.
  point(body, x, y, z, out) {
    if (body < 0) { out[0] = x; out[1] = y; out[2] = z; return out; }
    const m = this.poses, o = 12 * body;
    for (let r = 0; r < 3; r++) out[r] = m[o + 4 * r] * x + m[o + 4 * r + 1] * y + m[o + 4 * r + 2] * z + m[o + 4 * r + 3];
    return out;
  }
}
