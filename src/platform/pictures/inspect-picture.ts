import { t } from '../language/t.ts';
import { PictureError } from './picture-error.ts';

export type PictureFormat = 'png' | 'jpeg' | 'webp';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/**
 * Finds out the format of a picture from its structure, which must end with the file. It decodes nothing, and its cost is
 * linear in the length.
 *
 * @throws {PictureError} for other formats, damaged structures, animations and data behind the picture
 */
export function inspectPicture(bytes: Buffer): PictureFormat {
  if (bytes.subarray(0, 8).equals(PNG)) return inspectPng(bytes);
  if (bytes.length > 3 && bytes.readUIntBE(0, 3) === 0xffd8ff) return inspectJpeg(bytes);
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP')
    return inspectWebp(bytes);
  throw new PictureError('not-a-picture', t('The file is no PNG, JPEG or WebP picture.'));
}

const broken = () =>
  new PictureError('broken', t('The picture is damaged or incomplete. Save it again and retry.'));
const animated = () =>
  new PictureError('animated', t('The picture is animated. Use one with a single frame.'));

function endAt(end: number, bytes: Buffer): void {
  if (end > bytes.length) throw broken();
  if (end < bytes.length)
    throw new PictureError(
      'extra-data',
      t('The file has other data behind the picture. Save the picture again with an image editor.'),
    );
}

/** PNG: chunks of length, type, data and checksum, up to `IEND`. `acTL` makes it an animation. */
function inspectPng(bytes: Buffer): PictureFormat {
  let at = 8;
  while (at + 12 <= bytes.length) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'acTL') throw animated();
    at += 12 + bytes.readUInt32BE(at);
    if (type !== 'IEND') continue;
    endAt(at, bytes);
    return 'png';
  }
  throw broken();
}

/** A progressive JPEG has about ten scans. Each costs a pass over the whole picture. */
const MOST_SCANS = 64;

/** JPEG: segments, and after each start of a scan its data, up to the end marker. */
function inspectJpeg(bytes: Buffer): PictureFormat {
  let at = 2;
  let scans = 0;
  while (at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) throw broken();
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xd9) {
      endAt(at + 2, bytes);
      return 'jpeg';
    }
    if (at + 4 > bytes.length) break;
    at += 2 + bytes.readUInt16BE(at + 2);
    if (marker !== 0xda) continue;
    scans += 1;
    if (scans > MOST_SCANS) throw broken();
    at = endOfScan(bytes, at);
  }
  throw broken();
}

/** The next marker after the data of a scan: stuffed bytes (`ff00`) and restart markers belong to the data. */
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
function inspectWebp(bytes: Buffer): PictureFormat {
  if (bytes.length < 20) throw broken();
  const end = 8 + bytes.readUInt32LE(4);
  endAt(end, bytes);
  let at = 12;
  while (at + 8 <= end) {
    const type = bytes.toString('latin1', at, at + 4);
    if (type === 'ANIM' || type === 'ANMF') throw animated();
    const length = bytes.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
  if (at !== end) throw broken();
  return 'webp';
}
