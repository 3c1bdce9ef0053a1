import etag from '@fastify/etag';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  answerOf,
  type CachedAnswer,
  type CachedAnswers,
  cacheAnswers,
  sendAnswer,
} from '../http/cached-answers.ts';
import { inLanguage } from '../language/language.ts';
import { PageError } from './error-pages.ts';
import { inPageSlot } from './page-slots.ts';
import { type Page, sendPage, wholePage } from './shared/layout.ts';
import { inLanguageOf } from './shared/search-metadata.ts';

/** Of images, and pages for visitors who are not signed in. */
const MAX_CACHED_BYTES = 32 * 1_024 * 1_024;

/** `cacheControl`: if browsers and proxies may store it for another time than a page. */
export type PublicBody = string | Buffer | { body: Buffer; cacheControl: string };
type PublicContent = {
  type: string;
  headers?: Record<string, string>;
  /** Called before the content is made. @throws {PageError} 429 if the client's limit is reached */
  limit?: () => Promise<void>;
  make: () => Promise<PublicBody>;
  inSlot?: typeof inPageSlot;
};

declare module 'fastify' {
  interface FastifyInstance {
    /** Pages by language and canonical path; content that is the same for everybody by canonical path. */
    cachedAnswers: CachedAnswers;
    limitPages(request: FastifyRequest): Promise<void>;
  }
}

export async function cachePublicPages(
  app: FastifyInstance,
  limitPages: (request: FastifyRequest) => Promise<void>,
): Promise<void> {
  app.decorate('limitPages', limitPages);
  app.decorate('cachedAnswers', cacheAnswers(MAX_CACHED_BYTES));
  await app.register(etag, { weak: true });
}

/**
 * If the user is signed in, a private page is made. Else the page is cached for three seconds here, and by browsers and
 * proxies. `canonical` is the key of the cache: path and query, without parameters that do not change the page.
 * @throws the errors of `limit` and `make`, and of `inPageSlot` if no slot is free
 */
export async function sendPublicPage(
  request: FastifyRequest,
  reply: FastifyReply,
  canonical: string,
  make: () => Promise<Page>,
  limit: () => Promise<void> = () => request.server.limitPages(request),
): Promise<FastifyReply> {
  reply.header('vary', 'accept-language, cookie');
  const makeOwn = async () => ({ ...(await make()), address: canonical });
  if (request.signedIn) {
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
  return sendAnswer(request, reply, 'text/html; charset=utf-8', answer);
}

/** RFC 8288 */
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

export async function sendPublic(
  request: FastifyRequest,
  reply: FastifyReply,
  canonical: string,
  { type, headers = {}, limit, make, inSlot }: PublicContent,
): Promise<FastifyReply> {
  const answer = await cachedOrMade(
    request,
    canonical,
    async () => {
      const made = await inLanguage('en', make);
      if (typeof made === 'string' || Buffer.isBuffer(made)) return answerOf(made);
      return { ...answerOf(made.body), cacheControl: made.cacheControl };
    },
    limit,
    inSlot,
  );
  return sendAnswer(request, reply.headers(headers), type, answer);
}

/** `limit` is called before the request waits for a slot, so that a refused request needs no slot. */
async function cachedOrMade(
  request: FastifyRequest,
  canonical: string,
  make: () => Promise<CachedAnswer>,
  limit: () => Promise<void> = async () => undefined,
  inSlot = inPageSlot,
): Promise<CachedAnswer> {
  const { cachedAnswers } = request.server;
  let isOwn = false;
  const makeOwn = async () => {
    isOwn = true;
    await limit();
    return inSlot(request, make);
  };
  for (;;) {
    try {
      return await cachedAnswers.forceFetch(canonical, { context: { make: makeOwn } });
    } catch (error) {
      // If another request was making the answer: its 429 is about that client's limit, so this request tries again.
      if (isOwn || !(error instanceof PageError && error.statusCode === 429)) throw error;
    }
  }
}
