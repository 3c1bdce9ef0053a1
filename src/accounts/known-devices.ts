import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, DAY } from '../platform/clock.ts';
import type { Config, ConnectedConfig } from '../platform/config.ts';
import { derivedKey } from '../platform/secrets.ts';

/** A device expires this long after its last sign-in. */
export const DEVICE_LIFETIME_MS = 180 * DAY;

const NONCE_BYTES = 16;

/** The longest cookie that is read, in characters. Our own cookies are shorter. */
const LONGEST_COOKIE = 200;

/** Browsers that have signed in before. */
export type KnownDevices = {
  /** The `Set-Cookie` header for a browser in which `email` has just signed in. */
  cookieFor(email: string): string;
  /**
   * Finds the device that a request's `Cookie` header names.
   *
   * @returns null unless the browser has signed in as `email` before
   */
  find(cookies: string | undefined, email: string): string | null;
};

/**
 * Recognises browsers by a signed cookie, as OWASP's "device cookies" do. Each known device has its own limit of
 * sign-in tries, so wrong tries from elsewhere do not lock its user out. The password is still required.
 */
export function createKnownDevices(
  config: Pick<ConnectedConfig, 'SECRET_KEY' | 'SECRET_KEY_PREVIOUS'> &
    Pick<Config, 'PUBLIC_URL' | 'basePath'>,
  clock: Clock,
): KnownDevices {
  const isSecure = config.PUBLIC_URL.startsWith('https:');
  const name = `${isSecure ? '__Secure-' : ''}tallyport.device`;
  const keys = [config.SECRET_KEY, config.SECRET_KEY_PREVIOUS]
    .filter((key) => key !== undefined)
    .map((key) => derivedKey(key, 'known devices'));
  const [newest = Buffer.alloc(0)] = keys;

  return {
    cookieFor(email) {
      const issued = Math.floor(clock.now().getTime() / 1_000).toString(36);
      const device = `${issued}.${randomBytes(NONCE_BYTES).toString('base64url')}`;
      const attributes = [
        `${name}=${device}.${signature(newest, email, device)}`,
        `Max-Age=${DEVICE_LIFETIME_MS / 1_000}`,
        `Path=${config.basePath || '/'}`,
        'HttpOnly',
        'SameSite=Lax',
        ...(isSecure ? ['Secure'] : []),
      ];
      return attributes.join('; ');
    },
    find(cookies, email) {
      const value = cookieNamed(name, cookies);
      const [issued = '', nonce = '', signed = ''] = value.split('.');
      const at = Number.parseInt(issued, 36) * 1_000;
      if (!(at > clock.now().getTime() - DEVICE_LIFETIME_MS)) return null;
      const isOurs = keys.some((key) => isEqual(signed, signature(key, email, `${issued}.${nonce}`)));
      return isOurs ? nonce : null;
    },
  };
}

function signature(key: Buffer, email: string, device: string): string {
  return createHmac('sha256', key).update(`${device}\n${email.trim().toLowerCase()}`).digest('base64url');
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function cookieNamed(name: string, cookies = ''): string {
  const begin = `${name}=`;
  const found = cookies.split(';').find((one) => one.trimStart().startsWith(begin));
  const value = found?.trim().slice(begin.length) ?? '';
  return value.length > LONGEST_COOKIE ? '' : value;
}
