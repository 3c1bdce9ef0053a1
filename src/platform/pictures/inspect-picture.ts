import { PictureError } from './picture-error.ts';

export type PictureFormat = 'png' | 'jpeg' | 'webp';

/** The size is in pixels, before the rotation that a camera stores. */
export type Inspected = {
  format: PictureFormat;
  width: number;
  height: number;
  /** An offset in bytes. */
  end: number;
};

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/**
 * Decodes nothing, and its cost is linear in the length. A phone may append a film, a gain map or notes to a picture,
 * so bytes after the end are ignored.
 *
 * @throws {PictureError} for other formats, damaged structures and animations
 */
export function inspectPicture(bytes: Buffer): Inspected {
  if (bytes.subarray(0, 8).equals(PNG)) return inspectPng(bytes);
  if (bytes.length > 3 && bytes.readUIntBE(0, 3) === 0xffd8ff) return inspectJpeg(bytes);
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP')
    return inspectWebp(bytes);
  throw new PictureError('not-a-picture');
}

const broken = () => new PictureError('broken');
const animated = () => new PictureError('animated');

const IHDR = Buffer.from('IHDR');
const ACTL = Buffer.from('acTL').readUInt32BE();
const IEND = Buffer.from('IEND').readUInt32BE();

/** PNG: chunks of length, type, data and checksum, from `IHDR` to `IEND`. `acTL` makes it an animation. */
function inspectPng(bytes: Buffer): Inspected {
  if (bytes.length < 33 || !bytes.subarray(12, 16).equals(IHDR)) throw broken();
  let at = 8;
  while (at + 12 <= bytes.length) {
    const type = bytes.readUInt32BE(at + 4);
    if (type === ACTL) throw animated();
    at += 12 + bytes.readUInt32BE(at);
    if (type !== IEND) continue;
    if (at > bytes.length) throw broken();
    return { format: 'png', end: at, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  throw broken();
}

/** The most scans of a JPEG. A progressive JPEG has about ten, and each scan costs a pass over the whole picture. */
const MOST_SCANS = 64;

/**
 * Whether a marker begins the frame, which contains the size: a marker from c0 to cf, except c4 and cc, which begin
 * tables, and c8, which is reserved.
 */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Inspects a JPEG: segments, one of which is the frame, then scans with their data, until the end marker. */
function inspectJpeg(bytes: Buffer): Inspected {
  let at = 2;
  let scans = 0;
  let size: { width: number; height: number } | undefined;
  while (at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) throw broken();
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xd9) {
      if (!size) throw broken();
      return { format: 'jpeg', end: at + 2, ...size };
    }
    if (at + 4 > bytes.length) break;
    if (isFrame(marker)) {
      if (size || at + 9 > bytes.length) throw broken();
      size = { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
    if (marker !== 0xda) continue;
    scans += 1;
    if (scans > MOST_SCANS) throw broken();
    at = endOfScan(bytes, at);
  }
  throw broken();
}

/** The offset of the marker after a scan's data. Stuffed bytes (`ff00`) and restart markers belong to the data. */
function endOfScan(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(0xff, from);
  while (at !== -1) {
    const next = bytes[at + 1];
    if (next !== undefined && next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
    at = bytes.indexOf(0xff, at + 1);
  }
  throw broken();
}

/** WebP: a RIFF container of a stated length with padded chunks. `ANIM` and `ANMF` make it an animation. */
function inspectWebp(bytes: Buffer): Inspected {
  if (bytes.length < 20) throw broken();
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw broken();
  let at = 12;
  while (at + 8 <= end) {
    const type = bytes.toString('latin1', at, at + 4);
    if (type === 'ANIM' || type === 'ANMF') throw animated();
    const length = bytes.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
  if (at !== end) throw broken();
  const size = webpSize(bytes);
  if (!size) throw broken();
  return { format: 'webp', end, ...size };
}

/** The size that the first chunk of a WebP file states, in pixels (RFC 9649); undefined when it states none. */
function webpSize(bytes: Buffer): { width: number; height: number } | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    // Extended format: the size of the canvas minus one, 24 bits for each side.
    case 'VP8X':
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
    // Lossless format: the size minus one, 14 bits for each side, after a signature.
    case 'VP8L': {
      if (bytes[20] !== 0x2f) return undefined;
      const bits = bytes.readUInt32LE(21);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    // Lossy format: 14 bits for each side after the start code of a key frame. The two bits above them are a scale.
    case 'VP8 ':
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}
