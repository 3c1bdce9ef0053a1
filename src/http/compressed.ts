import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type Compressed = { br: Buffer; gzip: Buffer; identity: Buffer };
type Encoding = keyof Compressed;

const encodeBr = promisify(brotliCompress);
const encodeGzip = promisify(gzip);

/** `once` for content that is compressed once and sent often, `page` for a page that is sent once. */
const QUALITY = { once: 9, page: 4 } as const;

function br(plain: Buffer, quality: number): Promise<Buffer> {
  return encodeBr(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

/** Runs in the thread pool, not in the event loop. */
export async function compressOnce(content: string | Buffer): Promise<Compressed> {
  const identity = Buffer.from(content);
  const [brotli, zipped] = await Promise.all([br(identity, QUALITY.once), encodeGzip(identity)]);
  return { br: brotli, gzip: zipped, identity };
}

export type LazilyCompressed = (encoding: Encoding) => Promise<Buffer>;

export function compressLazily(identity: Buffer): LazilyCompressed {
  const made = new Map<Encoding, Promise<Buffer>>([['identity', Promise.resolve(identity)]]);
  return (encoding) => {
    const before = made.get(encoding);
    if (before) return before;
    const making = encoding === 'br' ? br(identity, QUALITY.page) : encodeGzip(identity);
    made.set(encoding, making);
    making.catch(() => made.delete(encoding));
    return making;
  };
}

export async function compressPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: string,
): Promise<string | Buffer> {
  const encoding = chooseEncoding(request, reply);
  if (encoding === 'identity') return page;
  return encoding === 'br' ? br(Buffer.from(page), QUALITY.page) : encodeGzip(page);
}

export function encodedFor(request: FastifyRequest, reply: FastifyReply, bodies: Compressed): Buffer {
  return bodies[chooseEncoding(request, reply)];
}

/** Browsers send 25 characters of `Accept-Encoding`. */
const LONGEST_ENCODINGS = 200;

/** The first that the client accepts: brotli, gzip, none. Sets the headers. */
export function chooseEncoding({ headers }: FastifyRequest, reply: FastifyReply): Encoding {
  const accepted = String(headers['accept-encoding'] ?? '')
    .slice(0, LONGEST_ENCODINGS)
    .split(',')
    .flatMap((one) => {
      const [name = '', weight = ''] = one.split(';');
      return /^\s*q=0(\.0*)?\s*$/.test(weight) ? [] : [name.trim()];
    });
  const encoding = (['br', 'gzip'] as const).find((name) => accepted.includes(name)) ?? 'identity';
  const vary = reply.getHeader('vary');
  reply.header('vary', vary ? `${vary}, accept-encoding` : 'accept-encoding');
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return encoding;
}
