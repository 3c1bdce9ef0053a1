import type { FastifyInstance } from 'fastify';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Metrics } from '../../process/metrics.ts';
import { limitPages } from '../limited-pages.ts';
import { cachePublicPages } from '../send-public-page.ts';
import { complaintPage } from './complaint-page.ts';
import { favouritePages } from './favourites-page.ts';
import { feeds } from './feeds.ts';
import { howRankingWorks } from './how-ranking-works-page.ts';
import { offlinePage } from './offline-page.ts';
import { rankingRoutes } from './ranking-page.ts';
import { reminderPages } from './reminder-pages.ts';
import { forSearchEngines } from './search-engines.ts';
import { pictures, serverImages } from './server-images.ts';
import { serverPages } from './server-page.ts';
import { sitePages } from './site-page.ts';
import { votePages } from './vote-form-pages.ts';

export async function publicPages(
  app: FastifyInstance,
  { deps, metrics }: { deps: AppDeps; metrics: Metrics },
): Promise<void> {
  await cachePublicPages(app, (request) => limitPages(deps, request));
  rankingRoutes(app, deps);
  howRankingWorks(app, deps);
  sitePages(app, deps.config);
  forSearchEngines(app, deps);
  feeds(app, deps);
  serverPages(app, deps);
  votePages(app, deps, metrics);
  reminderPages(app, deps);
  complaintPage(app, deps);
  favouritePages(app, deps);
  offlinePage(app);
  serverImages(app, deps);
  pictures(app, deps);
}
