import type { Error as ErrorBody } from './generated/index.ts';

/**
 * The `code` of an error. The codes of the API are in its reference; later versions may add some. Three codes come from
 * the client itself: `network` (no connection), `timeout` (no answer in time) and `unexpected-answer` (an answer that
 * is not from the API, such as a proxy's page).
 */
export type ErrorCode = ErrorBody['code'] | 'network' | 'timeout' | 'unexpected-answer' | (string & {});

type Details = {
  status: number;
  code: ErrorCode;
  next_vote_at?: string | undefined;
  next_allowed_at?: string | undefined;
  retry_after?: number | undefined;
  doc_url?: string | undefined;
  request_id?: string | undefined;
  idempotency_key?: string | undefined;
  cause?: unknown;
};

/** A call that was refused or failed. The message is the sentence from the API. */
export class TallyportError extends Error {
  override readonly name = 'TallyportError';
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: ErrorCode;
  /** With the code `cooldown`: when the player may vote again. */
  readonly next_vote_at: string | undefined;
  /** With the code `too-early`: when the next report is accepted. */
  readonly next_allowed_at: string | undefined;
  /** The header `Retry-After`, in seconds. */
  readonly retry_after: number | undefined;
  /** The page that explains the code. */
  readonly doc_url: string | undefined;
  /** The id of the request. Include it when you report a problem. */
  readonly request_id: string | undefined;
  /**
   * For a vote: if the code is `network`, `timeout` or a 5xx, repeat the vote with this key, so that it is never
   * counted twice.
   */
  readonly idempotency_key: string | undefined;

  constructor(message: string, { cause, ...details }: Details) {
    super(message, { cause });
    this.status = details.status;
    this.code = details.code;
    this.next_vote_at = details.next_vote_at;
    this.next_allowed_at = details.next_allowed_at;
    this.retry_after = details.retry_after;
    this.doc_url = details.doc_url;
    this.request_id = details.request_id;
    this.idempotency_key = details.idempotency_key;
  }
}

/** Makes the error of a failed call: from `response` and its body `error`, or from the exception `error`. */
export function errorOf(
  error: unknown,
  response: Response | undefined,
  idempotency_key: string | undefined,
): TallyportError {
  if (!response) return withoutAnswer(error, idempotency_key);
  const { status } = response;
  const request_id = response.headers.get('x-request-id') ?? undefined;
  const told = response.headers.get('retry-after') ?? '';
  const retry_after = /^\d{1,9}$/.test(told) ? Number(told) : undefined;
  const body = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  if (typeof body.error !== 'string' || typeof body.code !== 'string') {
    const details = {
      status,
      code: 'unexpected-answer',
      retry_after,
      request_id,
      idempotency_key,
      cause: error,
    };
    return new TallyportError(`HTTP ${status} is not an answer of the API.`, details);
  }
  return new TallyportError(body.error, {
    status,
    code: body.code,
    next_vote_at: textIn(body.next_vote_at),
    next_allowed_at: textIn(body.next_allowed_at),
    retry_after,
    doc_url: textIn(body.doc_url),
    request_id,
    idempotency_key,
  });
}

function withoutAnswer(cause: unknown, idempotency_key: string | undefined): TallyportError {
  const isTimeout = cause instanceof Error && cause.name === 'TimeoutError';
  return new TallyportError(
    isTimeout ? 'The listing did not answer in time.' : 'The listing cannot be reached.',
    {
      status: 0,
      code: isTimeout ? 'timeout' : 'network',
      idempotency_key,
      cause,
    },
  );
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined);
