import { steamIdOf } from '../../games/steam-ids.ts';
import { type Clock, DAY } from '../../platform/clock.ts';
import type { Config, ConnectedConfig } from '../../platform/config.ts';
import { createCookie, isSameSignature, signatureOf } from '../../platform/cookies.ts';
import { derivedKey } from '../../platform/secrets.ts';

/** A browser may vote this long with a SteamID that Steam confirmed. */
export const PROVEN_ID_MS = 30 * DAY;

export type SignedCookieConfig = Pick<ConnectedConfig, 'SECRET_KEY' | 'SECRET_KEY_PREVIOUS'> &
  Pick<Config, 'PUBLIC_URL' | 'basePath'>;

/** A signed cookie with the SteamID that Steam confirmed. Tallyport stores nothing. */
export type ProvenIds = {
  cookieFor(steamId: string): string;
  dropCookie(): string;
  /** The SteamID; null if there is no valid cookie, or it is older than 30 days. */
  find(cookies: string | undefined): string | null;
};

/** The SteamID's 17 digits, when Steam confirmed them, and a signature of both. */
export function createProvenIds(config: SignedCookieConfig, clock: Clock): ProvenIds {
  const cookie = createCookie(config, { name: 'steam', lifetimeMs: PROVEN_ID_MS, under: '/servers' });
  const keys = [config.SECRET_KEY, config.SECRET_KEY_PREVIOUS]
    .filter((key) => key !== undefined)
    .map((key) => derivedKey(key, 'proven SteamIDs'));
  const [newest = Buffer.alloc(0)] = keys;
  return {
    cookieFor(steamId) {
      const proven = `${steamId}.${clock.now().getTime().toString(36)}`;
      return cookie.set(`${proven}.${signatureOf(newest, proven)}`);
    },
    dropCookie: () => cookie.clear(),
    find(cookies) {
      const [digits = '', at = '', signed = ''] = cookie.read(cookies).split('.');
      const provenAt = Number.parseInt(at, 36);
      if (!(provenAt > clock.now().getTime() - PROVEN_ID_MS)) return null;
      if (!keys.some((key) => isSameSignature(signed, signatureOf(key, `${digits}.${at}`)))) return null;
      const id = steamIdOf(digits);
      return id.kind === 'id' ? id.digits : null;
    },
  };
}
