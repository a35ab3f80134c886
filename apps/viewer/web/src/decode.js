// Decodes the data of a page: the inverse of apps/viewer/encoding.hpp, which describes the format.

// A fault of a file, with a message for its reader.
export class Damaged extends Error {}

function bytesOfBase64(text) {
  let binary;
  try {
    binary = atob(text.trim());
  } catch {
    throw new Damaged("its data are not base64 text: the file was cut off or changed");
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  if (typeof DecompressionStream === "undefined") throw new Damaged("this browser is too old: it has no DecompressionStream");
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Damaged("its data cannot be decompressed: the file was cut off or changed");
  }
}

// {header, planes}
export async function decode(text) {
  const bytes = await inflate(bytesOfBase64(text));
  const ascii = (from, to) => String.fromCharCode(...bytes.subarray(from, to));
  if (bytes.length < 12 || ascii(0, 8) !== "costate1") throw new Damaged("its data belong to another program or version");
  const length = new DataView(bytes.buffer).getUint32(8, true);
  if (12 + length > bytes.length) throw new Damaged("its data end too early");
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length)));
  return { header, planes: bytes.subarray(12 + length) };
}

// The residuals of a table, column by column, with zigzag undone.
function residuals(about, planes) {
  const count = about.rows * about.width;
  if (about.offset + count * about.planes > planes.length) throw new Damaged("a table of its data ends too early");
  const out = new Int32Array(count);
  for (let plane = 0; plane < about.planes; ++plane) {
    const start = about.offset + plane * count;
    for (let i = 0; i < count; ++i) out[i] |= planes[start + i] << (8 * plane);
  }
  for (let i = 0; i < count; ++i) out[i] = (out[i] >>> 1) ^ -(out[i] & 1);
  return out;
}

// The integers of a table (rows x width), row by row. Sums wrap at 2^32, as in Int32Array.
function wholes(about, planes) {
  const { rows, width } = about;
  const r = residuals(about, planes);
  const x = new Int32Array(r.length);
  for (let column = 0; column < width; ++column)
    for (let row = 0; row < rows; ++row) {
      const i = row * width + column;
      let value = r[column * rows + row];
      if (about.order >= 1 && row >= 1) value += x[i - width];
      if (about.order >= 2 && row >= 2) value += x[i - width] - x[i - 2 * width];
      x[i] = value;
    }
  return x;
}

function scaled(x, quantum, Type) {
  const out = new Type(x.length);
  for (let i = 0; i < x.length; ++i) out[i] = x[i] * quantum;
  return out;
}

export function table(about, planes, Type = Float32Array) {
  return scaled(wholes(about, planes), about.quantum, Type);
}

export function magnitudes(about, planes) {
  const bits = wholes(about, planes);
  for (let i = 0; i < bits.length; ++i) bits[i] <<= 16;
  return new Float32Array(bits.buffer);
}

// A table whose rows form groups of `counts` rows.
export function groups(about, planes, counts) {
  const { rows, width } = about;
  const r = residuals(about, planes);
  const x = new Int32Array(r.length);
  let row = 0;
  for (let g = 0; g < counts.length; ++g) {
    const like = g > 0 && counts[g] === counts[g - 1];
    for (let k = 0; k < counts[g]; ++k, ++row)
      for (let column = 0; column < width; ++column) {
        const i = row * width + column;
        x[i] = r[column * rows + row] + (like ? x[i - counts[g] * width] : 0);
      }
  }
  if (row !== rows) throw new Damaged("a table of its data has the wrong length");
  return scaled(x, about.quantum, Float32Array);
}
