import { createHash } from 'node:crypto';
import compress from '@fastify/compress';
import etag from '@fastify/etag';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { inLanguage } from '../language/language.ts';
import { SECOND } from '../platform/clock.ts';
import { PageError } from './error-pages.ts';
import { inPageSlot } from './page-slots.ts';
import { type Page, sendPage, wholePage } from './shared/layout.ts';
import { inLanguageOf } from './shared/search-metadata.ts';

/** How long a process caches a page for visitors who are not signed in. */
const TTL_MS = 3 * SECOND;
const MAX_CACHED_BYTES = 32 * 1_024 * 1_024;

/** How long browsers and proxies may show a cached page; and how much longer while they revalidate it (RFC 5861). */
const FRESH_SECONDS = 10;
const STALE_SECONDS = 60;

/** A finished answer. It is encoded and hashed only once. */
type CachedAnswer = { body: Buffer; etag: string; link: string };
type PublicContent = {
  type: string;
  /** More headers of the answer; error pages do not get them. */
  headers?: Record<string, string>;
  /** Counts the content before it is made; throws a `PageError` 429. */
  limit?: () => Promise<void>;
  make: () => Promise<string | Buffer>;
};

declare module 'fastify' {
  interface FastifyInstance {
    /** Recent answers for visitors who are not signed in, by canonical path. Set by `cachePublicPages`. */
    cachedAnswers: LRUCache<string, CachedAnswer, { make: () => Promise<CachedAnswer> }>;
    /** Counts a page that is about to be made (`limitPages` of limited-pages.ts). Set by `cachePublicPages`. */
    limitPages(request: FastifyRequest): Promise<void>;
  }
}

/**
 * Prepares a scope whose routes answer with `sendPublicPage` and `sendPublic`.
 *
 * @param limitPages - called before each page that is not in the cache
 */
export async function cachePublicPages(
  app: FastifyInstance,
  limitPages: (request: FastifyRequest) => Promise<void>,
): Promise<void> {
  app.decorate('limitPages', limitPages);
  app.decorate(
    'cachedAnswers',
    new LRUCache<string, CachedAnswer, { make: () => Promise<CachedAnswer> }>({
      ttl: TTL_MS,
      maxSize: MAX_CACHED_BYTES,
      sizeCalculation: ({ body }) => body.length + 1,
      // Concurrent requests for one path share one result.
      fetchMethod: (_path, _stale, { context }) => context.make(),
      ignoreFetchAbort: true,
    }),
  );
  // Answers 304 if the request has the current ETag, and adds ETags to private pages.
  await app.register(etag, { weak: true });
  await app.register(compress, { global: false, encodings: ['br', 'gzip', 'identity'] });
}

/**
 * Answers with a page of the listing. Visitors who are not signed in get a page that is cached for three seconds and
 * may be stored by shared caches. A signed-in user gets a new, private page.
 *
 * @param canonical - the page's path and query without parameters that change nothing: requests with the same
 * `canonical` get the same page
 * @param make - errors that it throws are not cached
 * @param limit - counts the page before it is made, and throws a `PageError` 429 when there were too many
 * @throws {PageError} 429 when too many pages were made for the network
 */
export async function sendPublicPage(
  request: FastifyRequest,
  reply: FastifyReply,
  canonical: string,
  make: () => Promise<Page>,
  // A decoration of the scope that `cachePublicPages` has prepared.
  limit: () => Promise<void> = () => request.server.limitPages(request),
): Promise<FastifyReply> {
  reply.header('vary', 'accept-language, cookie');
  const makeOwn = async () => ({ ...(await make()), address: canonical });
  if (request.signedIn) {
    // A private page may show text of other users, so only sendPage may compress it (BREACH).
    request.headers['x-no-compression'] = 'yes';
    await limit();
    const page = await inPageSlot(request, makeOwn);
    return sendPage(request, reply.header('link', linksOf(request, canonical, page)), page);
  }
  const { language, isLanguageInAddress } = request;
  const answer = await cachedOrMade(
    request,
    `${language}${isLanguageInAddress ? '!' : ''} ${canonical}`,
    async () => {
      const page = await makeOwn();
      return answerOf(String(await wholePage(request, page)), linksOf(request, canonical, page));
    },
    limit,
  );
  return sendAnswer(reply, 'text/html; charset=utf-8', answer);
}

/** The `Link` header: canonical, previous and next page (RFC 8288). */
function linksOf(
  { server, language, isLanguageInAddress }: FastifyRequest,
  canonical: string,
  { metadata }: Page,
): string {
  const own = metadata?.canonical ?? canonical;
  const link = (path: string | undefined, relation: string) =>
    path === undefined ? [] : [`<${server.site.url}${path}>; rel="${relation}"`];
  return [
    ...link(isLanguageInAddress ? inLanguageOf(own, language) : own, 'canonical'),
    ...link(metadata?.previous, 'prev'),
    ...link(metadata?.next, 'next'),
  ].join(', ');
}

/** Answers with content that is the same for everybody, such as an image or a sitemap. */
export async function sendPublic(
  request: FastifyRequest,
  reply: FastifyReply,
  canonical: string,
  { type, headers = {}, limit, make }: PublicContent,
): Promise<FastifyReply> {
  const answer = await cachedOrMade(
    request,
    canonical,
    async () => answerOf(await inLanguage('en', make)),
    limit,
  );
  return sendAnswer(reply.headers(headers), type, answer);
}

function answerOf(content: string | Buffer, link = ''): CachedAnswer {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  // A weak ETag, because a compressed answer is the same page in different bytes.
  return { body, etag: `W/"${createHash('sha1').update(body).digest('base64')}"`, link };
}

/**
 * The cached answer, or that of a concurrent request, or the result of `make`. `limit` is checked before waiting for a
 * slot, so that a refused request takes none.
 */
async function cachedOrMade(
  request: FastifyRequest,
  canonical: string,
  make: () => Promise<CachedAnswer>,
  limit: () => Promise<void> = async () => undefined,
): Promise<CachedAnswer> {
  // The plugin `cachePublicPages` adds this decorator.
  const { cachedAnswers } = request.server;
  let isOwn = false;
  const makeOwn = async () => {
    isOwn = true;
    await limit();
    return inPageSlot(request, make);
  };
  for (;;) {
    try {
      return await cachedAnswers.forceFetch(canonical, { context: { make: makeOwn } });
    } catch (error) {
      // If another request started this page and was refused with 429: that limit does not apply to this client, so try
      // again.
      if (isOwn || !(error instanceof PageError && error.statusCode === 429)) throw error;
    }
  }
}

function sendAnswer(reply: FastifyReply, type: string, { body, etag, link }: CachedAnswer): FastifyReply {
  reply.header('etag', etag);
  if (link) reply.header('link', link);
  // If the answer contains a cookie of a renewed session: it is private.
  if (reply.hasHeader('set-cookie')) return reply.header('cache-control', 'no-store').type(type).send(body);
  return reply
    .header('cache-control', `public, max-age=${FRESH_SECONDS}, stale-while-revalidate=${STALE_SECONDS}`)
    .type(type)
    .send(body);
}
