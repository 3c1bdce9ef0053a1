import { ACCOUNTS } from './german/accounts.ts';
import { FAVOURITES } from './german/favourites.ts';
import { FEEDS } from './german/feeds.ts';
import { FIGURES } from './german/figures.ts';
import { IDENTITY } from './german/identity.ts';
import { INPUT } from './german/input.ts';
import { LISTENERS } from './german/listeners.ts';
import { LISTING } from './german/listing.ts';
import { NOTIFICATIONS } from './german/notifications.ts';
import { OUTCOMES } from './german/outcomes.ts';
import { PRIVACY } from './german/privacy.ts';
import { SERVER_LISTS } from './german/server-lists.ts';
import { SERVER_PAGE } from './german/server-page.ts';
import { SERVERS } from './german/servers.ts';
import { SETUP } from './german/setup.ts';
import { SITE } from './german/site.ts';
import { VOTE_PAGES } from './german/vote-pages.ts';
import { VOTES } from './german/votes.ts';

/** The German texts by their English texts. `t` accepts exactly these English texts; see `CATALOGUES` in t.ts. */
export const GERMAN = {
  ...SITE,
  ...LISTING,
  ...ACCOUNTS,
  ...SETUP,
  ...SERVER_LISTS,
  ...SERVERS,
  ...SERVER_PAGE,
  ...LISTENERS,
  ...VOTES,
  ...IDENTITY,
  ...VOTE_PAGES,
  ...OUTCOMES,
  ...INPUT,
  ...PRIVACY,
  ...NOTIFICATIONS,
  ...FAVOURITES,
  ...FEEDS,
  ...FIGURES,
} as const;
