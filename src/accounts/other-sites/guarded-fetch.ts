import { isIP } from 'node:net';
import { type AddressRanges, checkAddress } from '../../platform/address-guard.ts';
import { AppError } from '../../platform/app-error.ts';
import { guardedLookup } from '../../platform/guarded-lookup.ts';
import { hostOf } from '../../platform/host-and-port.ts';

/** The largest answer that is read, in bytes. Real answers have some kilobytes. */
const MAX_BYTES = 256 * 1_024;

/** The answer of a remote peer is larger than 256 KB. */
export class AnswerTooLargeError extends AppError {}

type Init = Omit<RequestInit, 'body'> & { body?: RequestInit['body'] | undefined };

/**
 * Returns a `fetch` that reads at most 256 KB and connects only to addresses that the guard has checked (design rule
 * 11); `ranges` is null for no check. It follows no redirects, and reads the whole body before it returns, so that the
 * caller's signal covers the body too. The body is not decompressed: a small one could become a huge one.
 *
 * @returns a function that throws {AddressError} when the name does not resolve or an address is refused;
 *   {AnswerTooLargeError}; the error of the connection; the signal's reason
 */
export function guardedFetch(ranges: AddressRanges | null) {
  const connect = ranges ? { lookup: guardedLookup(ranges) } : {};
  return async (url: string, { method, headers, body, signal }: Init): Promise<Response> => {
    const host = hostOf(new URL(url));
    // If the host is an IP address, no look-up checks it, so it is checked here.
    if (ranges && isIP(host)) checkAddress(host, host, ranges);
    // Loaded at the first sign-in: it takes some 13 MB.
    const { Agent, errors, request } = await import('undici');
    // Without pipelining, the connection is closed after the answer.
    const dispatcher = new Agent({ connect, maxResponseSize: MAX_BYTES, pipelining: 0 });
    // undici heeds the signal only once it is connected: a peer that never answers the handshake must end in time too.
    const end = () => void dispatcher.destroy(signal?.reason as Error);
    signal?.throwIfAborted();
    signal?.addEventListener('abort', end, { once: true });
    try {
      const answer = await request(url, {
        dispatcher,
        method: method === 'POST' ? 'POST' : 'GET',
        headers: [...new Headers(headers)].flat(),
        body: body ? String(body) : null,
        signal,
      });
      const fields = Object.entries(answer.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const bytes = await answer.body.arrayBuffer();
      return new Response(bytes.byteLength > 0 ? bytes : null, {
        status: answer.statusCode,
        headers: fields,
      });
    } catch (error) {
      if (!(error instanceof errors.ResponseExceededMaxSizeError)) throw error;
      throw new AnswerTooLargeError(`the answer has more than ${MAX_BYTES / 1_024} KB`);
    } finally {
      signal?.removeEventListener('abort', end);
    }
  };
}
