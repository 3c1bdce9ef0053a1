import type { FastifyInstance } from 'fastify';
import { limitPages } from '../limited-pages.ts';
import { cachePublicPages } from '../send-public-page.ts';
import { complaintPage } from './complaint-page.ts';
import { favouritePages } from './favourites-page.ts';
import { feeds } from './feeds.ts';
import { howRankingWorks } from './how-ranking-works-page.ts';
import type { PublicParts } from './public-parts.ts';
import { rankingRoutes } from './ranking-page.ts';
import { forSearchEngines } from './search-engines.ts';
import { pictures, serverImages } from './server-images.ts';
import { serverPages } from './server-page.ts';
import { sitePages } from './site-page.ts';
import { voteFormPages } from './vote-form-pages.ts';

/** Registers the public pages, such as those of lists, servers and votes, and the feeds, images and sitemaps. */
export async function publicPages(app: FastifyInstance, parts: PublicParts): Promise<void> {
  await cachePublicPages(app, (request) => limitPages(parts.deps, request));
  rankingRoutes(app, parts);
  howRankingWorks(app, parts);
  sitePages(app, parts);
  forSearchEngines(app, parts);
  feeds(app, parts);
  serverPages(app, parts);
  voteFormPages(app, parts);
  complaintPage(app, parts);
  favouritePages(app, parts);
  serverImages(app, parts);
  pictures(app, parts);
}
