// The data of the page: base64 of a compressed table of contents with the arrays behind it (written by contents.py).
const TYPES = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, i1: Int8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array };

async function unpacked(text) {
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const table = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { table, array: (ref) => new TYPES[ref.type](buffer, 4 + length + ref.at, ref.n) };
}

// Whole numbers over time, from the bytes of their second differences: [column][row].
function integrated(series, array) {
  const { rows, columns, bytes } = series, from = array(series.data), count = rows * columns;
  const out = bytes === 2 ? new Int16Array(count) : new Int32Array(count);
  for (let c = 0, i = 0; c < columns; c++) {
    for (let k = 0, value = 0, slope = 0; k < rows; k++, i++) {
      let second = 0;
      for (let b = 0; b < bytes; b++) second |= from[b * count + i] << (8 * b);
      slope = (slope + second) | 0;
      out[i] = value = (value + slope) | 0;                // the array keeps the low bytes: differences may overflow
    }
  }
  return out;
}
