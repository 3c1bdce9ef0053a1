import type { FastifyInstance } from 'fastify';
import type { Platform } from '../../platform.ts';
import { createWaitingWork } from '../../waiting-work.ts';
import { sendPage } from '../layout.ts';
import { PAGE } from '../page-route.ts';
import { homePage } from './pages.ts';
import { peoplePages } from './people.ts';
import { personPages } from './person.ts';
import { queueBoard } from './queue-board.ts';

const OPERATOR = { ...PAGE, config: { access: 'operator' } } as const;

/** The operator's desk, under its own prefix: what needs attention, the figures of the queues, Bull Board. */
export async function operatorDesk(
  app: FastifyInstance,
  { platform }: { platform: Platform },
): Promise<void> {
  const waitingWork = createWaitingWork(platform);
  app.get('/', OPERATOR, async (request, reply) =>
    sendPage(request, reply, homePage({ deskPath: app.prefix, work: await waitingWork() })),
  );
  peoplePages(app, { platform });
  personPages(app, { platform });
  await app.register(queueBoard, { prefix: '/queues', platform });
}
