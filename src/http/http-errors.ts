import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { sourceText } from '../language/t.ts';
import { AppError } from '../platform/app-error.ts';
import { OverloadError } from '../platform/batching/batcher.ts';
import { DeadlineError } from '../platform/deadline.ts';
import { isUnknownResult } from '../platform/mongo.ts';
import { codeOfStatus, ERROR_CODES, type ErrorCode, type VoteFormCode } from './error-codes.ts';
import { type BODY_KIB, BODY_LIMIT, type HEADER_KIB } from './request-limits.ts';

/** An error answer: `{"error": sentence, "code": code, ...fields, "doc_url": address}`. */
export type Refusal = {
  status: number;
  code: ErrorCode | VoteFormCode;
  sentence: string;
  headers?: Record<string, string>;
  /** Further fields of the body, such as `next_vote_at`: the time from which the next vote is accepted. */
  fields?: Record<string, string>;
};

declare module 'fastify' {
  interface FastifyInstance {
    errorDocs?: string;
  }
}

export class RefusedError extends AppError {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.sentence);
    this.refusal = refusal;
  }
}

export const RETRY_AFTER_SECONDS = 5;

export const SENTENCES = sourceText({
  400: 'The request is malformed.',
  url: 'The address has malformed percent-encoding.',
  length: 'The body is not as long as Content-Length says.',
  ended: 'The body ended early.',
  404: 'There is nothing at this address.',
  slash: 'There is nothing at this address: leave out the slash at its end.',
  405: 'This address does not take that method: see the Allow header.',
  408: 'The request took too long to arrive.',
  413: 'The body is larger than 16 KiB.' satisfies `The body is larger than ${typeof BODY_KIB} KiB.`,
  415: 'The body must be JSON, sent with Content-Type: application/json and without Content-Encoding.',
  417: 'The only expectation that is met is 100-continue.',
  431: 'The headers are larger than 16 KiB.' satisfies `The headers are larger than ${typeof HEADER_KIB} KiB.`,
  500: 'Something went wrong on our side. It was noted; please try again later.',
  ahead: 'Too many requests were sent ahead of their answers: wait for some of them.',
  overload: 'There is too much to do at this moment: try again in a few seconds.',
  stopping: 'This process is stopping: try again in a few seconds.',
  clock: 'The clock of this process is wrong: try again in a few seconds.',
  database: 'The database does not answer: try again in a few seconds.',
  notReady: 'The database is not prepared yet: try again in a few seconds.',
});

export function unavailable(code: ErrorCode, sentence: string): Refusal {
  return { status: 503, code, sentence, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } };
}

const BY_FRAMEWORK_CODE: Record<string, Refusal> = {
  FST_ERR_BAD_URL: { status: 400, code: 'malformed', sentence: SENTENCES.url },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { status: 415, code: 'unsupported-media-type', sentence: SENTENCES[415] },
  FST_ERR_CTP_BODY_TOO_LARGE: { status: 413, code: 'too-large', sentence: SENTENCES[413] },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { status: 400, code: 'malformed', sentence: SENTENCES.length },
};

/** An unknown error becomes 500. Pages use the status and the sentence too. */
export function refusalOf(error: FastifyError, request: FastifyRequest): Refusal {
  if (error instanceof RefusedError) return error.refusal;
  if (hasZodFastifySchemaValidationErrors(error)) {
    return { status: 400, code: 'malformed', sentence: describeErrors(error, request) };
  }
  if (error === request.raw.errored) return { status: 400, code: 'malformed', sentence: SENTENCES.ended };
  if (error instanceof OverloadError) return unavailable('overloaded', SENTENCES.overload);
  if (error instanceof DeadlineError || isUnknownResult(error))
    return unavailable('database-unavailable', SENTENCES.database);
  const known = BY_FRAMEWORK_CODE[error.code];
  const { bodyLimit } = request.routeOptions;
  if (known?.code === 'too-large' && bodyLimit !== BODY_LIMIT)
    return { ...known, sentence: `The body is larger than ${bodyLimit / 1_024} KiB.` };
  if (known) return known;
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return { status, code: codeOfStatus(status), sentence: error.message };
  if (status === 503) return unavailable('overloaded', SENTENCES.overload);
  return { status: 500, code: 'internal', sentence: SENTENCES[500] };
}

type Validation = { validation: { instancePath: string; message?: string }[]; validationContext?: string };

/** One sentence for each invalid field: `max_players must be a whole number, …`. */
function describeErrors({ validation, validationContext }: Validation, request: FastifyRequest): string {
  const errors = new Map<string, string>();
  for (const { instancePath, message = 'is wrong' } of validation) {
    const field = instancePath.slice(1).split('/')[0] ?? '';
    if (errors.has(field)) continue;
    const query = request.query as Record<string, unknown>;
    const repeated = validationContext === 'querystring' && Array.isArray(query[field]);
    const rule = repeated ? 'must be given only once' : message;
    const subject = field || `The ${validationContext ?? 'request'}`;
    errors.set(
      field,
      rule.toLowerCase().startsWith(`${subject} `.toLowerCase()) ? rule : `${subject} ${rule}`,
    );
  }
  return [...errors.values()].map((error) => error.replace(/\.?$/, '.')).join(' ');
}

export function errorBody(
  { code, sentence, fields }: Pick<Refusal, 'code' | 'sentence' | 'fields'>,
  errorDocs: string | undefined,
): Record<string, string> {
  const isDocumented = errorDocs !== undefined && code in ERROR_CODES;
  return {
    error: sentence,
    code,
    ...fields,
    ...(isDocumented ? { doc_url: `${errorDocs}#${code}` } : {}),
  };
}

export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  return reply
    .code(refusal.status)
    .headers(refusal.headers ?? {})
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorBody(refusal, reply.server.errorDocs));
}

/**
 * For errors that Fastify finds before it calls any hook or route. The text of an internal error is logged, not sent.
 */
export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = refusalOf(error, request);
  logRefusal(request, error, refusal);
  reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
  void sendRefusal(reply, refusal);
}

export function logRefusal(request: FastifyRequest, error: Error, { status }: Refusal): void {
  if (status === 500) request.log.error({ event: 'request.failed', err: error });
  else if (status === 503) request.log.warn({ event: 'request.unavailable', reason: String(error) });
}
