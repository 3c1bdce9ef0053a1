import type { FastifyInstance } from 'fastify';
import type { Platform } from '../../platform.ts';
import { listenerPages } from './listener.ts';
import { listenerTestPage } from './listener-test.ts';
import { resendRangePage } from './resend-range.ts';
import { serverList } from './server-list.ts';
import { votePage } from './vote-page.ts';
import { votesPage } from './votes.ts';

/** What the pages of this folder work with. */
export type DashboardSources = { platform: Platform };

/** The owner's pages, under their own prefix. */
export async function dashboard(app: FastifyInstance, sources: DashboardSources): Promise<void> {
  serverList(app, sources);
  listenerPages(app, sources);
  listenerTestPage(app, sources);
  votesPage(app, sources);
  resendRangePage(app, sources);
  votePage(app, sources);
}
