import { AsyncResource } from 'node:async_hooks';
import type { FastifyInstance } from 'fastify';
import { widerNetworkOf } from '../platform/limits/network-of.ts';

/** So many requests for pages, forms and files begin in a turn of the event loop. */
const A_TURN = 2;

/**
 * Lets two requests begin in each turn, except those of programs; each network gets its share. If all requests that
 * have arrived began in one turn, a vote, which takes several, would wait for all of them several times
 * (docs/adr/0136-turns.md). Register it before the hooks whose work it bounds.
 */
export function takeTurns(app: FastifyInstance): void {
  /** By network, oldest first. The networks get their turns in the order of the map. */
  const waiting = new Map<string, (() => void)[]>();
  let begun = 0;
  let isScheduled = false;

  const begin = (next: () => void) => {
    begun += 1;
    if (!isScheduled) setImmediate(nextTurn);
    isScheduled = true;
    next();
  };
  const nextTurn = () => {
    begun = 0;
    isScheduled = false;
    // A network that is moved to the end is visited again in the same loop, if there is no other one.
    for (const [network, queue] of waiting) {
      if (begun >= A_TURN) return;
      const next = queue.shift();
      waiting.delete(network);
      if (queue.length > 0) waiting.set(network, queue);
      if (next) begin(next);
    }
  };

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.isOfPrograms) return done();
    if (begun < A_TURN && waiting.size === 0) return begin(done);
    const network = widerNetworkOf(request.ip);
    const own = waiting.get(network) ?? [];
    // A later request must not run in the asynchronous context of the one that let it begin.
    own.push(AsyncResource.bind(() => done()));
    waiting.set(network, own);
  });
}
