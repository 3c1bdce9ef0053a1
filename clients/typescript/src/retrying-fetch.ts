/** How long a call may take, in milliseconds. */
export type Timing = {
  /** One attempt, its body included. */
  timeout_ms: number;
  /** The whole call with its retries and the waits between them. */
  deadline_ms: number;
  /** The wait before the first retry; it doubles with each one. */
  backoff_ms: number;
};

type Ended = { response: Response } | { error: unknown };

const LONGEST_BACKOFF_MS = 8_000;
const SECOND = 1_000;

/**
 * A `fetch` that repeats a request after a 5xx answer, a network error or a timeout, until the deadline. It waits as long
 * as `Retry-After` says, or with a growing backoff; when the deadline is nearer than the next attempt, the last answer is
 * the result. Other answers are returned at once, 429 included. Redirects are not followed: they would lose the body or
 * send the token elsewhere.
 *
 * @throws the last network error, or a `TimeoutError` when the last attempt took too long; the reason of the request's
 *   signal as soon as it is aborted
 */
export function retryingFetch(fetch: typeof globalThis.fetch, timing: Timing) {
  return async (request: Request): Promise<Response> => {
    const deadline = performance.now() + timing.deadline_ms;
    for (let retry = 0; ; retry += 1) {
      const left = deadline - performance.now();
      const ended = await attempt(fetch, request.clone(), Math.min(timing.timeout_ms, left));
      request.signal.throwIfAborted();
      const wait = waitBefore(retry, ended, timing.backoff_ms);
      const mayRepeat = !('response' in ended) || ended.response.status >= 500;
      if (mayRepeat && performance.now() + wait < deadline) await pause(wait, request.signal);
      else if ('response' in ended) return ended.response;
      else throw ended.error;
    }
  };
}

/** Reads the whole answer, so that a body that never ends is a timeout and is repeated. */
async function attempt(fetch: typeof globalThis.fetch, request: Request, timeoutMs: number): Promise<Ended> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)))]);
  try {
    const { status, headers, ...answer } = await withBody(
      await fetch(request, { signal, redirect: 'manual' }),
    );
    return { response: new Response(answer.body, { status, headers }) };
  } catch (error) {
    return { error };
  }
}

async function withBody(
  response: Response,
): Promise<{ status: number; headers: Headers; body: ArrayBuffer | null }> {
  const { status, headers } = response;
  const body = await response.arrayBuffer();
  // A Response refuses these statuses with a body. Status 0 is a browser's answer to a redirect.
  if (status === 0) return { status: 502, headers, body: null };
  return { status, headers, body: [204, 205, 304].includes(status) ? null : body };
}

/** Half of the wait is random, so that clients do not return together. */
function waitBefore(retry: number, ended: Ended, backoffMs: number): number {
  const backoff = Math.min(backoffMs * 2 ** retry, LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
  const told = 'response' in ended ? ended.response.headers.get('retry-after') : null;
  return told !== null && /^\d{1,9}$/.test(told) ? Number(told) * SECOND + backoff / 2 : backoff;
}

/** Resolves after `ms` milliseconds; rejects when `signal` is aborted before. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
