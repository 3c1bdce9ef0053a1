import type { FastifyInstance } from 'fastify';
import type { AdminParts } from './admin-parts.ts';
import { announcementPage } from './announcement-page.ts';
import { attentionPage } from './attention-page.ts';
import { auditPage } from './audit-page.ts';
import { blockPages } from './block-pages.ts';
import { exclusionPages } from './exclusion-pages.ts';
import { figuresPage } from './figures-page.ts';
import { listenerPages } from './listener-page.ts';
import { playerExclusionPages } from './player-exclusion-pages.ts';
import { queueBoard } from './queue-board.ts';
import { reviewPages } from './review-pages.ts';
import { serverPages } from './server-pages.ts';
import { setUpPage } from './set-up-page.ts';
import { settingsPages } from './settings-page.ts';
import { systemPage } from './system-page.ts';
import { tagPages } from './tag-pages.ts';
import { userPages } from './user-pages.ts';
import { usersPages } from './users-page.ts';
import { votePage } from './vote-page.ts';
import { votePages } from './vote-pages.ts';

/** Registers the admin area. `app` is a Fastify context with its path prefix. */
export async function adminArea(app: FastifyInstance, parts: AdminParts): Promise<void> {
  attentionPage(app, parts);
  figuresPage(app, parts);
  reviewPages(app, parts);
  serverPages(app, parts);
  votePages(app, parts);
  votePage(app, parts);
  playerExclusionPages(app, parts);
  exclusionPages(app, parts);
  listenerPages(app, parts);
  blockPages(app, parts);
  usersPages(app, parts);
  userPages(app, parts);
  tagPages(app, parts);
  announcementPage(app, parts);
  await settingsPages(app, parts);
  auditPage(app, parts);
  setUpPage(app, parts);
  systemPage(app, parts);
  await app.register(queueBoard, { prefix: '/queues', deps: parts.deps });
}
