import type { FastifyInstance } from 'fastify';
import type { AdminParts } from './admin-frame.ts';
import { announcementPage } from './announcement-page.ts';
import { attentionPage } from './attention-page.ts';
import { auditPage } from './audit-page.ts';
import { blockPages } from './block-pages.ts';
import { exclusionPages } from './exclusion-pages.ts';
import { figuresPage } from './figures-page.ts';
import { adminListenerPage } from './listener-page.ts';
import { playerExclusionPages } from './player-exclusion-pages.ts';
import { queueBoard } from './queue-board.ts';
import { adminReviewPages } from './review-pages.ts';
import { adminServerPages } from './server-pages.ts';
import { setUpListPage } from './set-up-page.ts';
import { adminSettingsPages } from './settings-page.ts';
import { systemPage } from './system-page.ts';
import { tagPages } from './tag-pages.ts';
import { userPages } from './user-pages.ts';
import { usersPages } from './users-page.ts';
import { adminVotePage } from './vote-page.ts';
import { voteSearchPage } from './vote-search-page.ts';

/** Registers the admin area. `app` is a Fastify context with its path prefix. */
export async function adminArea(app: FastifyInstance, parts: AdminParts): Promise<void> {
  attentionPage(app, parts);
  figuresPage(app, parts);
  adminReviewPages(app, parts);
  adminServerPages(app, parts);
  voteSearchPage(app, parts);
  adminVotePage(app, parts);
  playerExclusionPages(app, parts);
  exclusionPages(app, parts);
  adminListenerPage(app, parts);
  blockPages(app, parts);
  usersPages(app, parts);
  userPages(app, parts);
  tagPages(app, parts);
  announcementPage(app, parts);
  await adminSettingsPages(app, parts);
  auditPage(app, parts);
  setUpListPage(app, parts);
  systemPage(app, parts);
  await app.register(queueBoard, { prefix: '/queues', deps: parts.deps });
}
