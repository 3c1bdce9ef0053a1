import type { FastifyInstance } from 'fastify';
import { attentionPage } from './attention-page.ts';
import { auditPage } from './audit-page.ts';
import type { DeskSources } from './desk-sources.ts';
import { exclusionPages } from './exclusion-pages.ts';
import { listenerPages } from './listener-page.ts';
import { peoplePages } from './people.ts';
import { personPages } from './person.ts';
import { queueBoard } from './queue-board.ts';
import { reviewPages } from './review-pages.ts';
import { serverPages } from './server-pages.ts';
import { votePages } from './vote-pages.ts';

/** The operator's desk, under its own prefix. */
export async function operatorDesk(app: FastifyInstance, sources: DeskSources): Promise<void> {
  attentionPage(app, sources);
  reviewPages(app, sources);
  serverPages(app, sources);
  votePages(app, sources);
  exclusionPages(app, sources);
  listenerPages(app, sources);
  peoplePages(app, sources);
  personPages(app, sources);
  auditPage(app, sources);
  await app.register(queueBoard, { prefix: '/queues', platform: sources.platform });
}
