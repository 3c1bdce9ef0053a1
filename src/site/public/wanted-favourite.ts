import type { FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { DAY } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { createCookie } from '../../platform/cookies.ts';

/** The server whose star a visitor pressed, in a cookie until they have signed in. */
export type WantedFavourite = {
  /** The `Set-Cookie` header that remembers the server for a day: as long as a link to sign up. */
  remember(serverId: ObjectId): string;
  /** The remembered server; null if there is none. */
  find(request: FastifyRequest): ObjectId | null;
  /** The `Set-Cookie` header that forgets the server. */
  forget(): string;
};

/**
 * A form of this site sets the cookie, and its origin is checked. So a link of another site cannot add a favourite. Its
 * path is `/favourites`, so the browser does not send it with public pages, which are cached for visitors.
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
