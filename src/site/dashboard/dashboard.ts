import type { FastifyInstance } from 'fastify';
import type { Platform } from '../../platform.ts';
import { serverList } from './server-list.ts';

/** What the pages of this folder work with. */
export type DashboardSources = { platform: Platform };

/** The owner's pages, under their own prefix. */
export async function dashboard(app: FastifyInstance, sources: DashboardSources): Promise<void> {
  serverList(app, sources);
}
