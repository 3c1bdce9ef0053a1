import { createHmac, timingSafeEqual } from 'node:crypto';
import { SECOND } from './clock.ts';
import type { Config } from './config.ts';

/** The longest cookie that is read, in characters. Tallyport's cookies are shorter. */
const LONGEST_COOKIE = 200;

type CookieSite = Pick<Config, 'PUBLIC_URL' | 'basePath'>;

/**
 * A cookie that browsers send only with this site's own requests and when a link to the site is followed. Scripts
 * cannot read it.
 */
export type Cookie = {
  /** The `Set-Cookie` header. `value` must have no white space, comma or semicolon. */
  set(value: string): string;
  /** The `Set-Cookie` header that removes the cookie. */
  clear(): string;
  /** The cookie's value in a `Cookie` header; `''` if the cookie is absent or too long. */
  read(cookies: string | undefined): string;
};

/**
 * A cookie with `HttpOnly` and `SameSite=Lax`; on https also `Secure`.
 *
 * @param under - the part of the site that gets the cookie, such as `/servers`; empty for the whole site
 */
export function createCookie(
  { PUBLIC_URL, basePath }: CookieSite,
  { name, lifetimeMs, under = '' }: { name: string; lifetimeMs: number; under?: string },
): Cookie {
  const isSecure = PUBLIC_URL.startsWith('https:');
  const fullName = `${isSecure ? '__Secure-' : ''}tallyport.${name}`;
  const line = (value: string, seconds: number) =>
    [
      `${fullName}=${value}`,
      `Max-Age=${seconds}`,
      `Path=${`${basePath}${under}` || '/'}`,
      'HttpOnly',
      'SameSite=Lax',
      ...(isSecure ? ['Secure'] : []),
    ].join('; ');
  return {
    set: (value) => line(value, lifetimeMs / SECOND),
    clear: () => line('', 0),
    read: (cookies) => cookieNamed(fullName, cookies),
  };
}

function cookieNamed(name: string, cookies = ''): string {
  const begin = `${name}=`;
  const found = cookies.split(';').find((one) => one.trimStart().startsWith(begin));
  const value = found?.trim().slice(begin.length) ?? '';
  return value.length > LONGEST_COOKIE ? '' : value;
}

/** The HMAC-SHA-256 of `text` as base64url. */
export function signatureOf(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Compares two signatures in a time that does not depend on where they differ. */
export function isSameSignature(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
