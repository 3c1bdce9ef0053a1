import type { FastifyInstance } from 'fastify';
import { limitPages } from '../limited-pages.ts';
import { keepPublicPages } from '../public-page.ts';
import { complaintPage } from './complaint-page.ts';
import { favouritePages } from './favourites-page.ts';
import { howRankingWorks } from './how-ranking-works-page.ts';
import { pictures } from './picture-routes.ts';
import type { ListingSources } from './public-deps.ts';
import { ranking } from './ranking-page.ts';
import { forSearchEngines } from './search-engines.ts';
import { serverImages } from './server-images.ts';
import { serverPages } from './server-page.ts';
import { sitePages } from './site-page.ts';
import { votePages } from './vote-page.ts';

/** The public pages: the ranking, its explanation, servers, and site maps for search engines. */
export async function listing(app: FastifyInstance, sources: ListingSources): Promise<void> {
  await keepPublicPages(app, (request) => limitPages(sources.platform, request));
  ranking(app, sources);
  howRankingWorks(app, sources);
  sitePages(app, sources);
  forSearchEngines(app, sources);
  serverPages(app, sources);
  votePages(app, sources);
  complaintPage(app, sources);
  favouritePages(app, sources);
  serverImages(app, sources);
  pictures(app, sources);
}
