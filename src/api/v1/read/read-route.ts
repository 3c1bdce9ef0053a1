import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  answerOf,
  CACHE_CONTROL,
  type CachedAnswers,
  cacheAnswers,
  sendAnswer,
} from '../../../http/cached-answers.ts';
import { withinDatabaseTime } from '../../../http/database-time.ts';
import { isKnownTag } from '../../../http/if-none-match.ts';
import { createSlots, inSlot, type TakeSlot } from '../../../http/slots.ts';
import { SECOND } from '../../../platform/clock.ts';
import { widerNetworkOf } from '../../../platform/limits/network-of.ts';
import type { AppDeps } from '../../../process/app-deps.ts';
import { type CountRead, READ_REFUSED } from '../open-reads.ts';
import { COMMON_FAILURES, ETAG_HEADER, RATE_LIMIT_HEADERS } from '../schemas.ts';

export type ReadDeps = {
  deps: AppDeps;
  countRead: CountRead;
  answers: CachedAnswers;
  takeSlot: TakeSlot;
  /** For histories by hours, which would keep the others waiting. */
  takeHourlySlot: TakeSlot;
  /** The address of the listing, without a slash at its end. */
  site: string;
};

const MOST_CACHED_BYTES = 16 * 1_024 * 1_024;

/** Of their own, so that other programs do not delay visitors of the pages. */
const SLOTS = { atOnce: 2, mostWaiting: 100, mostOfClient: 20, waitMs: 5 * SECOND };

export function createReadDeps(deps: AppDeps, countRead: CountRead): ReadDeps {
  return {
    deps,
    countRead,
    answers: cacheAnswers(MOST_CACHED_BYTES),
    takeSlot: createSlots(SLOTS),
    takeHourlySlot: createSlots({ ...SLOTS, atOnce: 1 }),
    // The client's API description is made without a configuration.
    site: String(deps.config?.PUBLIC_URL).replace(/\/+$/, ''),
  };
}

const { 400: malformed, 500: internal, 503: unavailable } = COMMON_FAILURES;
/** What each of these endpoints may answer besides. */
export const READ_FAILURES = { 400: malformed, 429: READ_REFUSED, 500: internal, 503: unavailable } as const;

export const READ_HEADERS = {
  ...ETAG_HEADER,
  ...RATE_LIMIT_HEADERS,
  'Cache-Control': { type: 'string', description: 'How long the answer may be used again.' },
} as const;

/** No token is needed, or read. */
export const OPEN = { security: [] as [] };

/** The JSON of an answer, with the schema of the route. */
export type Made = { body: Record<string, unknown>; link?: string };

/**
 * Sends what `make` makes, which is kept for some seconds under `key`, or 304. At most two are made at once; without
 * such a limit, if `make` shares its queries with other calls (`isShared`).
 * @throws the errors of `make`; {RefusedError} 503 if no slot is free
 */
export async function sendRead(
  request: FastifyRequest,
  reply: FastifyReply,
  { answers, takeSlot }: Pick<ReadDeps, 'answers' | 'takeSlot'>,
  { key, make, isShared }: { key: string; make: () => Promise<Made>; isShared?: true },
): Promise<FastifyReply> {
  const makeAnswer = async () => {
    const { body, link } = await withinDatabaseTime(request, make());
    return answerOf(String(reply.serializeInput(body, '200')), link);
  };
  const makeInSlot = async () => inSlot(await takeSlot(widerNetworkOf(request.ip)), makeAnswer);
  const context = { make: isShared ? makeAnswer : makeInSlot };
  const found = await answers.forceFetch(key, { context });
  if (isKnownTag(request, found.etag)) {
    reply.headers({ etag: found.etag, 'cache-control': found.cacheControl ?? CACHE_CONTROL });
    return reply.code(304).send();
  }
  return sendAnswer(request, reply, 'application/json; charset=utf-8', found);
}
