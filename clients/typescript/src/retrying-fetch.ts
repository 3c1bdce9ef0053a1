/** Time limits of a call, in milliseconds. */
export type Timing = {
  /** The limit of one attempt, including its body. */
  timeout_ms: number;
  /** The limit of the whole call, including retries and the waits between them. */
  deadline_ms: number;
  /** The wait before the first retry. It doubles with each further retry. */
  backoff_ms: number;
};

type Ended = { response: Response } | { error: unknown };

const LONGEST_BACKOFF_MS = 8_000;
const SECOND = 1_000;

/**
 * A `fetch` that repeats a request after a 5xx answer, a network error or a timeout.
 *
 * - It waits as long as `Retry-After` says, otherwise with a growing backoff.
 * - If the deadline comes before the next attempt, it returns the last answer.
 * - It returns all other answers at once, including 429.
 * - Unless `redirect` is `follow`, it does not follow redirects, which would lose the body or send the token to another
 *   host.
 *
 * @throws the last network error, or a `TimeoutError` when the last attempt took too long; the reason of the request's
 * signal as soon as it is aborted
 */
export function retryingFetch(
  fetch: typeof globalThis.fetch,
  timing: Timing,
  redirect: 'manual' | 'follow' = 'manual',
) {
  return async (request: Request): Promise<Response> => {
    const deadline = performance.now() + timing.deadline_ms;
    for (let retry = 0; ; retry += 1) {
      const left = deadline - performance.now();
      const ended = await attempt(fetch, request.clone(), Math.min(timing.timeout_ms, left), redirect);
      request.signal.throwIfAborted();
      const wait = waitBefore(retry, ended, timing.backoff_ms);
      const mayRepeat = !('response' in ended) || ended.response.status >= 500;
      if (mayRepeat && performance.now() + wait < deadline) await pause(wait, request.signal);
      else if ('response' in ended) return ended.response;
      else throw ended.error;
    }
  };
}

/** Reads the whole answer. So if a body never ends, that is a timeout, and the request is repeated. */
async function attempt(
  fetch: typeof globalThis.fetch,
  request: Request,
  timeoutMs: number,
  redirect: 'manual' | 'follow',
): Promise<Ended> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)))]);
  try {
    const { status, headers, ...answer } = await withBody(await fetch(request, { signal, redirect }));
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
  // `Response` does not accept a body with these statuses. Status 0 is a browser's answer to a redirect.
  if (status === 0) return { status: 502, headers, body: null };
  return { status, headers, body: [204, 205, 304].includes(status) ? null : body };
}

/** The wait before a retry. Half of it is random, so that many clients do not retry at the same moment. */
function waitBefore(retry: number, ended: Ended, backoffMs: number): number {
  const backoff = Math.min(backoffMs * 2 ** retry, LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
  const told = 'response' in ended ? ended.response.headers.get('retry-after') : null;
  return told !== null && /^\d{1,9}$/.test(told) ? Number(told) * SECOND + backoff / 2 : backoff;
}

/** Resolves after `ms` milliseconds. Rejects as soon as `signal` is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
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
