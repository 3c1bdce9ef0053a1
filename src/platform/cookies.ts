import { createHmac, timingSafeEqual } from 'node:crypto';
import { SECOND } from './clock.ts';
import type { Config } from './config.ts';

const LONGEST_COOKIE = 200;

type CookieSite = Pick<Config, 'PUBLIC_URL' | 'basePath'>;

/** Sent only with this site's own requests and when a link to the site is followed; scripts cannot read it. */
export type Cookie = {
  /** `value` must have no white space, comma or semicolon. */
  set(value: string): string;
  clear(): string;
  /** `''` if the cookie is absent or too long. */
  read(cookies: string | undefined): string;
};

/** `under` is the part of the site that gets the cookie, such as `/servers`; by default all of it. */
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

export function signatureOf(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Takes a time that does not depend on where they differ. */
export function isSameSignature(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
