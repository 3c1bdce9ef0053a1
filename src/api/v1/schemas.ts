import { z } from 'zod';
import { codesOf, ERROR_CODES, type ErrorCode, isOfPages } from '../../http/error-codes.ts';
import { RefusedError } from '../../http/http-errors.ts';
import { BODY_KIB } from '../../http/request-limits.ts';
import { type Clock, SECOND } from '../../platform/clock.ts';
import { OPERATION_TIMEOUT_MS } from '../../platform/mongo.ts';
import { CLAIM_CALLS } from '../../votes/claims/claim-calls.ts';
import { USERNAME_BOUNDS, usernameSchema } from '../../votes/username.ts';

type HeaderSchema = { type: 'string' | 'integer'; description: string; format?: 'uuid' };

export const countSchema = z.int().min(0);

export const portSchema = z
  .int()
  .min(1)
  .max(65_535)
  .meta({ examples: [25_565] });

/** `description`: of what, and when it is null. */
export const percentage = (description: string) =>
  z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .meta({ description, examples: [99.31] });

export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: 'UTC, with milliseconds.', examples: ['2026-11-21T08:00:00.000Z'] });

/** `title` becomes the name of the schema in the OpenAPI document. */
export function titled<S extends z.core.$ZodLooseShape>(title: string, shape: S) {
  return z.object(shape).meta({ title });
}

/** The schema of a request's body. */
export function jsonBody<S extends z.core.$ZodLooseShape>(title: string, shape: S) {
  return z.object(shape, { error: 'must be a JSON object' }).meta({ title });
}

export function usernameField(description: string) {
  return usernameSchema.meta({ description, ...USERNAME_BOUNDS, examples: ['Steve'] });
}

export const params = z.object({
  server_id: z
    .string()
    .regex(/^[0-9a-f]{24}$/)
    .meta({
      description: 'The server: 24 lower-case hex digits. The id never changes and is never reused.',
      examples: ['6921f0a4c2b7d81e5f3a9c04'],
    }),
});

export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': {
    type: 'string',
    description: 'The limit: q requests in w seconds (draft-ietf-httpapi-ratelimit-headers).',
  },
  RateLimit: { type: 'string', description: 'The rest of the limit: r requests; the next one in t seconds.' },
} satisfies Record<string, HeaderSchema>;

/** Seconds until `at`, rounded up; 0 if `at` is in the past. */
export function secondsUntil(at: Date, clock: Clock): number {
  return Math.max(0, Math.ceil((at.getTime() - clock.now().getTime()) / SECOND));
}

type LimitShown = { name: string; times: number; windowMs: number; left: number; resetAt: Date };

/** The 429 of a limit without its own code. `what` is the subject of the sentence. */
export function tooManyRequests(what: string, nextAt: Date, clock: Clock): RefusedError {
  const next = nextAt.toISOString();
  return new RefusedError({
    status: 429,
    code: 'too-many-requests',
    sentence: `${what} is allowed at ${next}.`,
    headers: { 'retry-after': String(Math.max(1, secondsUntil(nextAt, clock))) },
    fields: { next_allowed_at: next },
  });
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-10. */
export function rateLimitHeaders(limits: LimitShown[], clock: Clock): Record<string, string> {
  const policies = limits.map(({ name, times, windowMs }) => `"${name}";q=${times};w=${windowMs / SECOND}`);
  const rests = limits.map(
    ({ name, left, resetAt }) => `"${name}";r=${left};t=${secondsUntil(resetAt, clock)}`,
  );
  return { 'ratelimit-policy': policies.join(', '), ratelimit: rests.join(', ') };
}

/** After a request that is allowed once in `windowMs`. */
export function onceHeaders(name: string, windowMs: number, resetAt: Date, clock: Clock) {
  return rateLimitHeaders([{ name, times: 1, windowMs, left: 0, resetAt }], clock);
}

const RETRY_AFTER_HEADER = {
  'Retry-After': { type: 'integer', description: 'Try again after this many seconds.' },
} satisfies Record<string, HeaderSchema>;

export const ETAG_HEADER = {
  ETag: {
    type: 'string',
    description: 'Identifies this exact answer; send it as `If-None-Match` next time.',
  },
} satisfies Record<string, HeaderSchema>;

export const REPLAYED_HEADER = {
  'Idempotent-Replayed': {
    type: 'string',
    description: '`true` if this is the stored answer of an earlier request with the same `Idempotency-Key`.',
  },
} satisfies Record<string, HeaderSchema>;

export const IF_NONE_MATCH = z.looseObject({
  'if-none-match': z
    .string()
    .optional()
    .describe('An `ETag` of an earlier answer. If the answer is unchanged, it is 304 without a body.'),
});

export function answer<S extends z.ZodType>(
  schema: S,
  description: string,
  headers?: Record<string, HeaderSchema>,
): S {
  return schema.meta({ description, ...(headers ? { headers } : {}) });
}

const sentence = z.string().meta({
  description: 'What is wrong, for a human.',
  examples: ['No valid token of this server was sent.'],
});

const code = z
  .enum(Object.keys(ERROR_CODES) as ErrorCode[])
  .describe('Names the error. Codes never change; a later version may add some.');

const docUrl = z.string().meta({
  description: 'The page that explains this code.',
  examples: ['https://listing.example/docs/errors#unauthorized'],
});

const problem = titled('Error', { error: sentence, code, doc_url: docUrl });

/** Lists the codes: by default all of `status` that the API uses. */
export function failure(
  status: number,
  description: string,
  headers?: Record<string, HeaderSchema>,
  codes = codesOf(status).filter((one) => !isOfPages(one)),
) {
  const list = codes.map((one) => `\`${one}\``).join(', ');
  return answer(problem, `${description} ${codes.length > 1 ? 'Codes' : 'Code'}: ${list}.`, headers);
}

/** `name`: the field with the time from which a request is accepted. */
export function tooEarly(
  code: ErrorCode,
  name: string,
  title: string,
  description: string,
  headers: Record<string, HeaderSchema> = { ...RETRY_AFTER_HEADER, ...RATE_LIMIT_HEADERS },
) {
  const shape = { error: sentence, code: z.literal(code), [name]: timestamp, doc_url: docUrl };
  return answer(titled(title, shape), description, headers);
}

export const CLAIM_KEY_LIMIT = tooEarly(
  'too-many-requests',
  'next_allowed_at',
  'ClaimRefused',
  `The claim key was used for over ${CLAIM_CALLS.times.toLocaleString('en')} calls in a minute. API tokens have no such limit.`,
  RETRY_AFTER_HEADER,
);

export const UNCHANGED = answer(z.null(), 'The answer is the one whose `ETag` was sent.', ETAG_HEADER);

export const COMMON_FAILURES = {
  400: failure(400, 'A field, a parameter or the request itself is malformed.'),
  401: failure(
    401,
    'The token is missing, malformed, unknown, revoked, expired or of another server, or there is no such server: the answer is always the same.',
    { 'WWW-Authenticate': { type: 'string', description: 'Always `Bearer`.' } },
  ),
  403: failure(
    403,
    'The token is valid, but lacks the scope that the call needs.',
    { 'WWW-Authenticate': { type: 'string', description: '`Bearer error="insufficient_scope"`.' } },
    ['scope-missing'],
  ),
  500: failure(500, 'An error of the listing.'),
  503: failure(
    503,
    `Overload, a process that is stopping or has a wrong clock, or a database that does not answer within ${OPERATION_TIMEOUT_MS / SECOND} seconds. Try again later.`,
    RETRY_AFTER_HEADER,
  ),
} as const;

export const BODY_FAILURES = {
  413: failure(413, `The body is larger than ${BODY_KIB} KiB.`),
  415: failure(415, 'The body is not JSON, or Content-Type does not say `application/json`.'),
} as const;
