import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

/** A picture with a colour gradient, so that its compressed size is not tiny. */
export function picture(width: number, height: number, colour = '#0f6168') {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs><linearGradient id="g"><stop stop-color="${colour}"/><stop offset="1" stop-color="#fff"/></linearGradient></defs><rect width="100%" height="100%" fill="url(#g)"/></svg>`;
  return sharp(Buffer.from(svg));
}

/** An icon as a Minecraft server sends it. */
export async function favicon(colour?: string): Promise<string> {
  const png = await picture(64, 64, colour).png().toBuffer();
  return `data:image/png;base64,${png.toString('base64')}`;
}

/** A chunk of a PNG with its length and checksum. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** A PNG whose header states a size. The pixel data is `rows`, zeros by default. */
export function pngOfSize(width: number, height: number, rows = Buffer.alloc(1_000)): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The body of a form with files, and its headers. */
export function fileForm(
  ...files: { name?: string; filename?: string; bytes: Buffer | string; type?: string }[]
) {
  const boundary = '----tallyport-test';
  const parts = files.flatMap(({ name = 'banner', filename = 'banner.png', bytes, type = 'image/png' }) => [
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\ncontent-type: ${type}\r\n\r\n`,
    ),
    Buffer.from(bytes),
    Buffer.from('\r\n'),
  ]);
  const payload = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return {
    payload,
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(payload.length),
    },
  };
}
