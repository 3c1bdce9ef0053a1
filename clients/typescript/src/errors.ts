import type { Error as ErrorBody } from './generated/index.ts';

/**
 * The `code` of an error. Those of the API are in its reference; a later version may add some. From the client itself:
 * `network` (no connection), `timeout` (no answer in time) and `unexpected-answer` (not an answer of the API, such as a
 * proxy's page).
 */
export type ErrorCode = ErrorBody['code'] | 'network' | 'timeout' | 'unexpected-answer' | (string & {});

type Details = {
  status: number;
  code: ErrorCode;
  nextVoteAt?: Date | undefined;
  nextAllowedAt?: Date | undefined;
  requestId?: string | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
};

/** A call that was refused or failed. Its message is the sentence of the API. */
export class TallyportError extends Error {
  override readonly name = 'TallyportError';
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: ErrorCode;
  /** With the code `cooldown`: when the player may vote again. */
  readonly nextVoteAt: Date | undefined;
  /** With the code `too-early`: when the next report is accepted. */
  readonly nextAllowedAt: Date | undefined;
  /** Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** Of a vote: after `network`, `timeout` or a 5xx, repeat the vote with it, so that it is never counted twice. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, { cause, ...details }: Details) {
    super(message, { cause });
    this.status = details.status;
    this.code = details.code;
    this.nextVoteAt = details.nextVoteAt;
    this.nextAllowedAt = details.nextAllowedAt;
    this.requestId = details.requestId;
    this.idempotencyKey = details.idempotencyKey;
  }
}

/** The error of a call that ended with `response` and the body `error`, or with the exception `error`. */
export function errorOf(
  error: unknown,
  response: Response | undefined,
  idempotencyKey: string | undefined,
): TallyportError {
  if (!response) return withoutAnswer(error, idempotencyKey);
  const { status } = response;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const body = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  if (typeof body.error !== 'string' || typeof body.code !== 'string') {
    const details = { status, code: 'unexpected-answer', requestId, idempotencyKey, cause: error };
    return new TallyportError(`HTTP ${status} is not an answer of the API.`, details);
  }
  const nextVoteAt = dateIn(body.next_vote_at);
  const nextAllowedAt = dateIn(body.next_allowed_at);
  const { code } = body;
  return new TallyportError(body.error, {
    status,
    code,
    nextVoteAt,
    nextAllowedAt,
    requestId,
    idempotencyKey,
  });
}

function withoutAnswer(cause: unknown, idempotencyKey: string | undefined): TallyportError {
  const isTimeout = cause instanceof Error && cause.name === 'TimeoutError';
  return new TallyportError(
    isTimeout ? 'The listing did not answer in time.' : 'The listing cannot be reached.',
    {
      status: 0,
      code: isTimeout ? 'timeout' : 'network',
      idempotencyKey,
      cause,
    },
  );
}

function dateIn(value: unknown): Date | undefined {
  const date = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
