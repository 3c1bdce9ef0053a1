import { createHash } from 'node:crypto';
import compress from '@fastify/compress';
import etag from '@fastify/etag';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { SECOND } from '../platform/clock.ts';
import { PageError } from './error-pages.ts';
import { type Page, sendPage, wholePage } from './layout.ts';

/** A stranger's page is made at most so often in a process, however many ask for it. */
const TTL_MS = 3 * SECOND;
const MOST_CACHED_BYTES = 32 * 1_024 * 1_024;

/** Browsers and proxies may show it so long, and then so long while they ask anew (RFC 5861). */
const FRESH_SECONDS = 10;
const STALE_SECONDS = 60;

/** As it is sent: encoded and summed up once, however many ask for it. */
type Made = { body: Buffer; etag: string; link: string };
type Making = {
  type: string;
  /** What the answer says besides; an error's page does not. */
  headers?: Record<string, string>;
  make: () => Promise<string>;
};

declare module 'fastify' {
  interface FastifyInstance {
    /** What was made for strangers a moment ago, by its canonical path. */
    madeAnswers: LRUCache<string, Made, { make: () => Promise<Made> }>;
  }
}

/** Prepares a scope whose routes answer with `sendPublicPage` and `sendPublic`. */
export async function keepPublicPages(app: FastifyInstance): Promise<void> {
  app.decorate(
    'madeAnswers',
    new LRUCache<string, Made, { make: () => Promise<Made> }>({
      ttl: TTL_MS,
      maxSize: MOST_CACHED_BYTES,
      sizeCalculation: ({ body }) => body.length + 1,
      // Whoever asks while it is made waits for the same one.
      fetchMethod: (_path, _stale, { context }) => context.make(),
      ignoreFetchAbort: true,
    }),
  );
  // It answers 304 by the tag that stands; pages for one user have none yet and get one.
  await app.register(etag, { weak: true });
  await app.register(compress, { global: false, encodings: ['br', 'gzip', 'identity'] });
}

/**
 * Answers with a page of the listing. For strangers it is made at most once in three seconds and may be kept by
 * whoever carries it; for somebody who is signed in it is made anew and theirs alone.
 *
 * @param canonical - the path and query that this page stands for, without parameters that change nothing: two
 *   requests of one `canonical` get the same page
 * @param make - what it throws is the answer, and is not kept
 */
export async function sendPublicPage(
  request: FastifyRequest,
  reply: FastifyReply,
  canonical: string,
  make: () => Promise<Page>,
): Promise<FastifyReply> {
  reply.header('vary', 'cookie');
  if (request.signedIn) {
    // One user's page, which shows what others may have put there, is not compressed (BREACH).
    request.headers['x-no-compression'] = 'yes';
    const page = await make();
    return sendPage(request, reply.header('link', linksOf(request, canonical, page)), page);
  }
  const made = await madeFor(request, canonical, async () => {
    const page = await make();
    return madeOf(String(await wholePage(request, page)), linksOf(request, canonical, page));
  });
  return sendMade(reply, 'text/html; charset=utf-8', made);
}

/** A page's one address and its neighbours, for whoever reads no HTML (RFC 8288). */
function linksOf({ server }: FastifyRequest, canonical: string, { listed }: Page): string {
  const link = (path: string | undefined, relation: string) =>
    path === undefined ? [] : [`<${server.site.url}${path}>; rel="${relation}"`];
  return [
    ...link(listed?.canonical ?? canonical, 'canonical'),
    ...link(listed?.previous, 'prev'),
    ...link(listed?.next, 'next'),
  ].join(', ');
}

/** Answers with what is the same for everybody: an image, a list for search engines. */
export async function sendPublic(
  request: FastifyRequest,
  reply: FastifyReply,
  canonical: string,
  { type, headers = {}, make }: Making,
): Promise<FastifyReply> {
  const made = await madeFor(request, canonical, async () => madeOf(await make()));
  return sendMade(reply.headers(headers), type, made);
}

function madeOf(text: string, link = ''): Made {
  const body = Buffer.from(text);
  // Weak: a compressed answer is the same page in other bytes.
  return { body, etag: `W/"${createHash('sha1').update(body).digest('base64')}"`, link };
}

/** What was made a moment ago, what is being made for somebody else, or what `make` makes. */
async function madeFor(
  { server: { madeAnswers } }: FastifyRequest,
  canonical: string,
  make: () => Promise<Made>,
): Promise<Made> {
  let isOwn = false;
  const makeOwn = () => {
    isOwn = true;
    return make();
  };
  for (;;) {
    try {
      return await madeAnswers.forceFetch(canonical, { context: { make: makeOwn } });
    } catch (error) {
      // That somebody else asked too often is no answer for this one.
      if (isOwn || !(error instanceof PageError && error.statusCode === 429)) throw error;
    }
  }
}

function sendMade(reply: FastifyReply, type: string, { body, etag, link }: Made): FastifyReply {
  reply.header('etag', etag);
  if (link) reply.header('link', link);
  // Carries a renewed session: it is one user's after all.
  if (reply.hasHeader('set-cookie')) return reply.header('cache-control', 'no-store').type(type).send(body);
  return reply
    .header('cache-control', `public, max-age=${FRESH_SECONDS}, stale-while-revalidate=${STALE_SECONDS}`)
    .type(type)
    .send(body);
}
