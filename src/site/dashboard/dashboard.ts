import type { FastifyInstance } from 'fastify';
import { createAsk } from '../../probing/ask-server.ts';
import { addServerPages } from './add-server.ts';
import { connectPages } from './connect.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { draftPages } from './drafts.ts';
import { listenerPages } from './listener.ts';
import { listenerTestPage } from './listener-test.ts';
import { memberPages } from './members.ts';
import { overviewPage } from './overview.ts';
import { profilePages } from './profile.ts';
import { resendRangePage } from './resend-range.ts';
import { reviewPages } from './reviews.ts';
import { serverList } from './server-list.ts';
import { settingsPages } from './settings.ts';
import { statisticsPages } from './statistics.ts';
import { tokenPages } from './tokens.ts';
import { votePage } from './vote-page.ts';
import { votesPage } from './votes.ts';

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
