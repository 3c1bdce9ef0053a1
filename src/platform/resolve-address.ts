import { lookup as lookUp, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { AddressError, type AddressRanges, checkAddress } from './address-guard.ts';

export type ResolveOptions = {
  ranges: AddressRanges;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Finds all addresses of a name; `queryNameServers` by default. */
  lookup?: ((name: string) => Promise<{ address: string }[]>) | undefined;
  /** Called after the look-up, before the addresses are checked. */
  onResolved?: (() => void) | undefined;
};

/**
 * Resolves a host and checks each of its addresses (design rule 11). The caller must connect to one of the returned
 * addresses and never to the name, because a second look-up could return another address (DNS rebinding).
 *
 * @param host - in any spelling. The system's resolver interprets unusual ones (`127.1`, `0177.0.0.1`, `2130706433`),
 *   and the resulting address is checked
 * @throws {AddressError} when there is no address, no answer in time or the signal is aborted; also when one of the
 *   addresses is refused: a name with public and private addresses is an attack or a mistake
 */
export async function resolveAddress(host: string, options: ResolveOptions): Promise<string[]> {
  const answers = isIP(host) ? [host] : await resolveName(host, options);
  options.onResolved?.();
  const addresses = new Set(answers.map((answer) => checkAddress(host, answer, options.ranges)));
  if (addresses.size === 0) throw new AddressError('dns-not-found', `The host ${host} has no address`);
  return [...addresses];
}

async function resolveName(host: string, options: ResolveOptions): Promise<string[]> {
  const { timeoutMs, signal, lookup = (name) => queryNameServers(name, resolver) } = options;
  if (signal?.aborted) throw new AddressError('stopped', 'The look-up was stopped');
  const resolver = resolverFor(timeoutMs);

  const { promise: gaveUp, reject: giveUp } = Promise.withResolvers<never>();
  const stop = () => giveUp(new AddressError('stopped', 'The look-up was stopped'));
  const timer = setTimeout(
    () =>
      giveUp(
        new AddressError('dns-timeout', `The name servers gave no answer for ${host} in ${timeoutMs} ms`),
      ),
    timeoutMs,
  );
  signal?.addEventListener('abort', stop);
  try {
    const answers = await Promise.race([lookup(host), gaveUp]);
    return answers.map(({ address }) => address);
  } catch (error) {
    throw error instanceof AddressError ? error : lookupError(host, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    resolver.cancel();
  }
}

/** The longest time that the resolver waits for one name server before it first tries the next one. */
const FIRST_TRY_TIMEOUT_MS = 1_000;

/**
 * Makes a resolver for one look-up of at most `timeoutMs`. Its own timeouts are shorter, so that there is time to try
 * the next name server. With many name servers it would exceed `timeoutMs`, so the caller must stop it.
 */
export function resolverFor(timeoutMs: number): Resolver {
  return new Resolver({
    timeout: Math.max(1, Math.min(FIRST_TRY_TIMEOUT_MS, Math.ceil(timeoutMs / 4))),
    tries: 2,
  });
}

/** When one address family has answered, the look-up waits this long for the other one (RFC 8305, section 3). */
const RESOLUTION_DELAY_MS = 300;

/**
 * Finds the addresses of a name by DNS queries, which can be cancelled. The system's resolver runs in a small thread
 * pool, where look-ups without an answer would delay all others. So it is used only for names without a dot, for names
 * that the name servers do not know (`/etc/hosts` may have these), and if no name server runs (ECONNREFUSED).
 */
async function queryNameServers(name: string, resolver: Resolver): Promise<{ address: string }[]> {
  if (!name.replace(/\.$/, '').includes('.')) return lookUp(name, { all: true });
  const found: string[][] = [];
  const queries = [resolver.resolve4(name), resolver.resolve6(name)].map(async (query, family) => {
    found[family] = await query;
  });
  const settled = Promise.allSettled(queries);
  const oneAnswered = Promise.any(queries).then(
    () => pause(RESOLUTION_DELAY_MS, undefined, { ref: false }),
    () => settled,
  );
  await Promise.race([settled, oneAnswered]);
  if (found.length > 0) return found.flat().map((address) => ({ address }));
  const silent = (await settled).find(
    (result) => result.status === 'rejected' && NO_ANSWER.has(result.reason?.code),
  );
  if (silent?.status === 'rejected') throw silent.reason;
  return lookUp(name, { all: true });
}

/** Codes of the resolver that mean a failure of the name servers, not an unknown name. */
const NO_ANSWER = new Set(['EAI_AGAIN', 'ETIMEOUT', 'ESERVFAIL', 'EREFUSED']);

function lookupError(host: string, error: unknown): AddressError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return NO_ANSWER.has(code)
    ? new AddressError('dns-timeout', `The name servers gave no answer for ${host} (${code})`)
    : new AddressError('dns-not-found', `The host ${host} has no address`);
}
