import type { FastifyReply, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { DAY, SECOND } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';

/**
 * The server whose star a visitor pressed, until they have signed in. The cookie is set by a form of our own, whose
 * origin was checked, so a link of another site cannot add a favourite. Its path is `/favourites`, so the browser does
 * not send it with public pages, which are cached for visitors without a cookie.
 */
const COOKIE = 'tallyport-favourite';
const COOKIE_VALUE = new RegExp(`(?:^|;\\s*)${COOKIE}=([0-9a-f]{24})(?:;|$)`);
/** As long as a link to sign up. */
const LIFETIME_SECONDS = DAY / SECOND;

type Settings = Pick<Config, 'PUBLIC_URL' | 'basePath'>;

/** Remembers the server in the visitor's browser for a day. */
export function rememberFavourite(reply: FastifyReply, settings: Settings, serverId: ObjectId): void {
  reply.header('set-cookie', cookie(settings, serverId.toHexString(), LIFETIME_SECONDS));
}

/** The remembered server; null if there is none. */
export function wantedFavourite({ headers }: FastifyRequest): ObjectId | null {
  const [, id] = COOKIE_VALUE.exec(headers.cookie ?? '') ?? [];
  return id === undefined ? null : new ObjectId(id);
}

/** Forgets the remembered server. */
export function forgetFavourite(reply: FastifyReply, settings: Settings): void {
  reply.header('set-cookie', cookie(settings, '', 0));
}

function cookie({ PUBLIC_URL, basePath }: Settings, value: string, seconds: number): string {
  const secure = PUBLIC_URL.startsWith('https:') ? '; Secure' : '';
  return `${COOKIE}=${value}; Path=${basePath}/favourites; Max-Age=${seconds}; SameSite=Lax; HttpOnly${secure}`;
}
