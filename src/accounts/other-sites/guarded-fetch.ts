import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { type AddressRanges, checkAddress } from '../../platform/address-guard.ts';
import { hostOf } from '../../platform/host-and-port.ts';
import { resolveAddress } from '../../platform/resolve-address.ts';
import { type Bounded, readBounded } from './bounded-fetch.ts';

/** How long a look-up may take. The caller's signal limits the whole request. */
const LOOKUP_MS = 5_000;

/**
 * Returns a `boundedFetch` with the address guard: it resolves the name, checks every address and connects to a checked
 * one (design rule 11). It follows no redirects.
 *
 * @returns a function that throws {AddressError} when the name does not resolve or an address is refused;
 *   {AnswerTooLargeError} as `boundedFetch`; the error of the connection; the signal's reason
 */
export function guardedFetch(ranges: AddressRanges): (url: string, init: Bounded) => Promise<Response> {
  const lookup = guardedLookup(ranges);
  return async (url, { method = 'GET', headers, body, signal }) => {
    const target = new URL(url);
    const host = hostOf(target);
    // If the host is an IP address, no look-up checks it, so it is checked here.
    if (isIP(host)) checkAddress(host, host, ranges);
    const text = body === undefined || body === null ? undefined : String(body);
    const request = (target.protocol === 'https:' ? overHttps : overHttp)(url, {
      method,
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        ...(text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }),
      },
      lookup,
      agent: false,
      ...(signal ? { signal } : {}),
    });
    return readBounded(
      await new Promise((resolve, reject) => {
        // The signal's reason says more than the error of the closed connection.
        request.once('error', (error) => reject(signal?.aborted ? signal.reason : error));
        request.once('response', (answer) => {
          const head = new Headers();
          for (const [name, values] of Object.entries(answer.headersDistinct))
            for (const value of values ?? []) head.append(name, value);
          resolve({ status: answer.statusCode ?? 0, headers: head, body: answer });
        });
        request.end(text);
      }),
    );
  };
}

/** A look-up for sockets that returns checked addresses only. */
function guardedLookup(ranges: AddressRanges): LookupFunction {
  const look = callbackify(async (host: string) => {
    const addresses = await resolveAddress(host, { ranges, timeoutMs: LOOKUP_MS });
    return addresses.map((address) => ({ address, family: isIP(address) }));
  });
  return (host, { all }, done) =>
    look(host, (error, answers) => {
      const [first = { address: '', family: 0 }] = answers ?? [];
      if (error) done(error, '', 0);
      else if (all) done(null, answers);
      else done(null, first.address, first.family);
    });
}
