import type { FastifyInstance } from 'fastify';
import type { AdminSources } from './admin-deps.ts';
import { announcementPage } from './announcement-page.ts';
import { attentionPage } from './attention-page.ts';
import { auditPage } from './audit-page.ts';
import { blockPages } from './block-pages.ts';
import { complaintPages } from './complaint-pages.ts';
import { exclusionPages, quarantineGroupPages } from './exclusion-pages.ts';
import { listenerPages } from './listener-page.ts';
import { playerExclusionPages } from './player-exclusion-pages.ts';
import { queueBoard } from './queue-board.ts';
import { reviewPages } from './review-pages.ts';
import { serverPages } from './server-pages.ts';
import { tagPages } from './tag-pages.ts';
import { userPages } from './user-pages.ts';
import { usersPages } from './users-page.ts';
import { votePage } from './vote-page.ts';
import { votePages } from './vote-pages.ts';

/** The admin area, under its own prefix. */
export async function adminArea(app: FastifyInstance, sources: AdminSources): Promise<void> {
  attentionPage(app, sources);
  reviewPages(app, sources);
  complaintPages(app, sources);
  serverPages(app, sources);
  votePages(app, sources);
  votePage(app, sources);
  playerExclusionPages(app, sources);
  exclusionPages(app, sources);
  quarantineGroupPages(app, sources);
  listenerPages(app, sources);
  blockPages(app, sources);
  usersPages(app, sources);
  userPages(app, sources);
  tagPages(app, sources);
  announcementPage(app, sources);
  auditPage(app, sources);
  await app.register(queueBoard, { prefix: '/queues', platform: sources.platform });
}
