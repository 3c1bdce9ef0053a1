import { randomBytes } from 'node:crypto';
import { type Clock, DAY } from '../platform/clock.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import { createCookie, isSameSignature, signatureOf } from '../platform/cookies.ts';
import { derivedKey } from '../platform/secrets.ts';

export const DEVICE_LIFETIME_MS = 180 * DAY;

const NONCE_BYTES = 16;

export type KnownDevices = ReturnType<typeof createKnownDevices>;

/**
 * Recognises browsers by a signed cookie, as OWASP's "device cookies" do. Each known device has its own limit of
 * sign-in tries, so wrong tries from elsewhere do not lock out its user. The user still needs the password.
 */
export function createKnownDevices(
  config: Pick<ConnectedConfig, 'SECRET_KEY' | 'SECRET_KEY_PREVIOUS' | 'PUBLIC_URL' | 'basePath'>,
  clock: Clock,
) {
  const cookie = createCookie(config, { name: 'device', lifetimeMs: DEVICE_LIFETIME_MS });
  const keys = [config.SECRET_KEY, config.SECRET_KEY_PREVIOUS]
    .filter((key) => key !== undefined)
    .map((key) => derivedKey(key, 'known devices'));
  const [newest = Buffer.alloc(0)] = keys;

  return {
    cookieFor(email: string): string {
      const issued = Math.floor(clock.now().getTime() / 1_000).toString(36);
      const device = `${issued}.${randomBytes(NONCE_BYTES).toString('base64url')}`;
      return cookie.set(`${device}.${signature(newest, email, device)}`);
    },
    /** The id of the device that a `Cookie` header names; null unless it has signed in as `email` before. */
    find(cookies: string | undefined, email: string): string | null {
      const [issued = '', nonce = '', signed = ''] = cookie.read(cookies).split('.');
      const at = Number.parseInt(issued, 36) * 1_000;
      if (!(at > clock.now().getTime() - DEVICE_LIFETIME_MS)) return null;
      const isOurs = keys.some((key) => isSameSignature(signed, signature(key, email, `${issued}.${nonce}`)));
      return isOurs ? nonce : null;
    },
  };
}

function signature(key: Buffer, email: string, device: string): string {
  return signatureOf(key, `${device}\n${email.trim().toLowerCase()}`);
}
