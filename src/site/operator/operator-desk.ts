import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { listenerOverview } from '../../delivery/listener-overview.ts';
import type { Platform } from '../../platform.ts';
import { createWaitingWork } from '../../waiting-work.ts';
import { PageError } from '../error-pages.ts';
import { sendPage } from '../layout.ts';
import { PAGE } from '../page-route.ts';
import { listenerPage, listenerPageQuery } from './listener-page.ts';
import { homePage } from './pages.ts';
import { queueBoard } from './queue-board.ts';

const OPERATOR = { ...PAGE, config: { access: 'operator' } } as const;

/** The operator's desk, under its own prefix: what needs attention, the figures of the queues, Bull Board. */
export async function operatorDesk(
  app: FastifyInstance,
  { platform }: { platform: Platform },
): Promise<void> {
  const deskPath = app.prefix;
  const waitingWork = createWaitingWork(platform);
  app.get('/', OPERATOR, async (request, reply) =>
    sendPage(request, reply, homePage({ deskPath, work: await waitingWork() })),
  );
  app.get('/listeners/:listenerId', OPERATOR, async (request, reply) => {
    const { listenerId } = request.params as { listenerId: string };
    const { state, from } = listenerPageQuery.parse(request.query);
    const overview = /^[0-9a-f]{24}$/.test(listenerId)
      ? await listenerOverview(platform, new ObjectId(listenerId), { state, from })
      : null;
    if (!overview) {
      throw new PageError(
        404,
        'There is no such listener: it was removed, or set anew under another id. Its votes are kept.',
      );
    }
    const now = platform.clock.now();
    return sendPage(request, reply, listenerPage({ deskPath, overview, listenerId, state, now }));
  });
  await app.register(queueBoard, { prefix: '/queues', platform });
}
