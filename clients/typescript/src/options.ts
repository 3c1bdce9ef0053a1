import type { Timing } from './retrying-fetch.ts';

/** A listed server, its token, and how long a call may take. */
export type TallyportOptions = Partial<Timing> & {
  /** The address of the listing, with its path if it has one: `https://listing.example`. */
  url: string;
  /** The server's id: 24 lower-case hex digits. The dashboard shows it on the page "API access". */
  server_id: string;
  /** An API token of this server. Use it only on your own server; it must not reach a browser. */
  token: string;
  /** The function that sends requests. By default the platform's `fetch`. */
  fetch?: typeof globalThis.fetch;
};

/** A listing whose public data are read without a token. */
export type ListingOptions = Omit<TallyportOptions, 'server_id' | 'token'>;

const TIMES = ['timeout_ms', 'deadline_ms', 'backoff_ms'] as const;
/** A token is sent in a header, so it must be visible ASCII without white space. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Removes options whose value is `undefined`, so that they get their defaults. */
export function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

/**
 * Checks the options, so that a missing setting is reported as such, and not as a listing that does not answer. Returns
 * them with a `url` without a slash at its end.
 *
 * @throws {TypeError} naming the option that is wrong
 */
export function checkOptions(options: Required<TallyportOptions>): Required<TallyportOptions> {
  const { url, server_id: server, token } = options;
  const base = checkUrl(url);
  refuseEmpty('server_id', server, 'give the id of your server: it is on the page "API access"');
  if (!/^[0-9a-f]{24}$/.test(server))
    throw new TypeError('The option `server_id` is not an id of a server: it has 24 lower-case hex digits.');
  refuseEmpty('token', token, 'give an API token of your server: make it on the page "API access"');
  if (!TOKEN.test(token))
    throw new TypeError(
      'The option `token` is not a token: it has a space or another character that tokens do not have.',
    );
  return { ...options, ...checkListingOptions(options), url: base };
}

/** As `checkOptions`, without a server and its token. @throws {TypeError} naming the option that is wrong */
export function checkListingOptions(options: Required<ListingOptions>): Required<ListingOptions> {
  const url = checkUrl(options.url);
  if (typeof options.fetch !== 'function') throw new TypeError('The option `fetch` is not a function.');
  for (const name of TIMES) {
    if (!(Number.isFinite(options[name]) && options[name] > 0))
      throw new TypeError(`The option \`${name}\` is not a number of milliseconds above 0.`);
  }
  return { ...options, url };
}

function checkUrl(url: string): string {
  const example = 'such as https://listing.example';
  refuseEmpty('url', url, `give the address of the listing, ${example}`);
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol))
    throw new TypeError(
      `The option \`url\` is not the address of a listing: it begins with https://, ${example}.`,
    );
  if (parsed.username || parsed.password || parsed.search || parsed.hash)
    throw new TypeError(
      'The option `url` has more than an address and a path: leave out user name, `?` and `#`.',
    );
  if (/\/api\/v\d/.test(parsed.pathname))
    throw new TypeError('The option `url` is an address of the API: leave out the path from /api on.');
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
}

function refuseEmpty(name: string, value: unknown, advice: string): void {
  if (typeof value !== 'string' || value.trim() === '')
    throw new TypeError(`The option \`${name}\` is ${value === undefined ? 'missing' : 'empty'}: ${advice}.`);
}
