import type { FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { DAY } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { createCookie } from '../../platform/cookies.ts';

/** Remembers the server whose star a visitor clicked, in a cookie, until the visitor has signed in. */
export type WantedFavourite = {
  /** The `Set-Cookie` header that remembers the server for a day, as long as the mailed link to sign up is valid. */
  remember(serverId: ObjectId): string;
  /** The remembered server; null if there is none. */
  find(request: FastifyRequest): ObjectId | null;
  /** The `Set-Cookie` header that forgets the server. */
  forget(): string;
};

/**
 * Only a form of this site sets the cookie, so a link of another site cannot add a favourite. The path of the cookie is
 * `/favourites`, so that browsers do not send it with requests for public pages, which are cached for all visitors.
 */
export function createWantedFavourite(config: Pick<Config, 'PUBLIC_URL' | 'basePath'>): WantedFavourite {
  const cookie = createCookie(config, { name: 'favourite', lifetimeMs: DAY, under: '/favourites' });
  return {
    remember: (serverId) => cookie.set(serverId.toHexString()),
    find({ headers }) {
      const id = cookie.read(headers.cookie);
      return /^[0-9a-f]{24}$/.test(id) ? new ObjectId(id) : null;
    },
    forget: () => cookie.clear(),
  };
}
