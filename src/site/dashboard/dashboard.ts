import type { FastifyInstance } from 'fastify';
import { createAsk } from '../../probing/ask-server.ts';
import { addServerPages } from './add-server-pages.ts';
import { connectPages } from './connect-pages.ts';
import type { DashboardSources } from './dashboard-deps.ts';
import { draftPages } from './draft-pages.ts';
import { listenerPages } from './listener-pages.ts';
import { listenerTestPage } from './listener-test-page.ts';
import { memberPages } from './member-pages.ts';
import { overviewPage } from './overview-page.ts';
import { profilePages } from './profile-pages.ts';
import { resendRangePage } from './resend-range-page.ts';
import { reviewPages } from './review-pages.ts';
import { serverList } from './server-list-page.ts';
import { settingsPages } from './settings-pages.ts';
import { statisticsPages } from './statistics-pages.ts';
import { tokenPages } from './token-pages.ts';
import { votePage } from './vote-page.ts';
import { votesPage } from './votes-page.ts';

/** The owners' pages, under their own prefix. */
export async function dashboard(
  app: FastifyInstance,
  { platform }: Pick<DashboardSources, 'platform'>,
): Promise<void> {
  const sources = { platform, ask: createAsk(platform.config) };
  serverList(app, sources);
  addServerPages(app, sources);
  draftPages(app, sources);
  overviewPage(app, sources);
  tokenPages(app, sources);
  statisticsPages(app, sources);
  reviewPages(app, sources);
  memberPages(app, sources);
  profilePages(app, sources);
  settingsPages(app, sources);
  connectPages(app, sources);
  listenerPages(app, sources, listenerTestPage(app, sources));
  votesPage(app, sources);
  resendRangePage(app, sources);
  votePage(app, sources);
}
