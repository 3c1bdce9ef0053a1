import type { FastifyInstance } from 'fastify';
import { addServerPages } from './add-server-pages.ts';
import { connectPages } from './connect-pages.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { deliveryPage } from './delivery-page.ts';
import { draftPages } from './draft-pages.ts';
import { goalPage } from './goal-page.ts';
import { listenerPages } from './listener-pages.ts';
import { listenerTestPage } from './listener-test-page.ts';
import { memberPages } from './member-pages.ts';
import { overviewPage } from './overview-page.ts';
import { profilePages } from './profile-pages.ts';
import { resendRangePage } from './resend-range-page.ts';
import { reviewPages } from './review-pages.ts';
import { serverListPage } from './server-list-page.ts';
import { readTodos, todoCounts } from './server-todo.ts';
import { serverSettingsPages } from './settings-pages.ts';
import { statisticsPages } from './statistics-pages.ts';
import { tokenPages } from './token-pages.ts';
import { votePage } from './vote-page.ts';
import { votesPage } from './votes-page.ts';

/** Registers the owners' pages. `app` is a Fastify context with their path prefix. */
export async function dashboard(app: FastifyInstance, parts: DashboardParts): Promise<void> {
  // At shutdown, requests stop waiting for workers: a listener test can last longer than the time for a shutdown.
  app.addHook('preClose', async () => parts.deps.answers.giveUp());
  app.site.railCounts = async (server) => todoCounts((await readTodos(parts.deps, [server]))(server._id));
  serverListPage(app, parts);
  addServerPages(app, parts);
  draftPages(app, parts);
  overviewPage(app, parts);
  tokenPages(app, parts);
  statisticsPages(app, parts);
  deliveryPage(app, parts);
  reviewPages(app, parts);
  goalPage(app, parts);
  memberPages(app, parts);
  profilePages(app, parts);
  serverSettingsPages(app, parts);
  connectPages(app, parts);
  listenerPages(app, parts, listenerTestPage(app, parts));
  votesPage(app, parts);
  resendRangePage(app, parts);
  votePage(app, parts);
}
