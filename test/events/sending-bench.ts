import { Webhook } from 'standardwebhooks';
import { eventIdOf } from '../../src/events/event.ts';
import type { EventKind } from '../../src/events/kinds.ts';
import { sendEvents } from '../../src/events/send-events.ts';
import { SlowPlaces } from '../../src/events/slow-places.ts';
import { type NewEvent, storeEvents } from '../../src/events/store-events.ts';
import { addSubscription } from '../../src/events/subscriptions.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import type { HttpListener, Received } from '../support/fake-http-listener.ts';
import { addOwnedServer, addOwner } from '../support/owned-server.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

const NEVER = new AbortController().signal;

/** Fake websites run on this machine; a silent one is waited for half a second. */
export const SENDING_ENV = { ALLOWED_PRIVATE_RANGES: '127.0.0.0/8', LISTENER_TIMEOUT_MS: '500' };

/** The messages of a website: id and parsed body. */
export function messagesOf({ received }: HttpListener) {
  return received.map(({ headers, body }) => ({ id: String(headers['webhook-id']), ...JSON.parse(body) }));
}

export function isSignedWith(secret: string, { body, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** A listed server with a clock that stands, and what a worker does, without a queue. */
export async function sendingBench(env: Record<string, string> = {}) {
  const clock = stoppedClock();
  const deps: AppDeps = { ...(await testDeps({ ...SENDING_ENV, ...env })), clock };
  const ownerId = await addOwner(deps);
  const serverId = await addOwnedServer(deps, ownerId);
  const places = new SlowPlaces(8);
  let made = 0;
  return {
    deps,
    clock,
    ownerId,
    serverId,
    async subscribe(site: HttpListener, kinds: EventKind[] = ['milestone'], name = 'Test') {
      const url = `http://127.0.0.1:${site.port}/events`;
      const added = await addSubscription(deps, serverId, { type: 'http', name, kinds, url }, 'test');
      const { _id } = added.subscription;
      return {
        ...added,
        _id,
        of: { serverId, subscriptionId: _id },
        read: async () => {
          const found = await deps.subscriptions.findOne({ _id });
          if (!found) throw new Error('it was removed');
          return found;
        },
        waiting: () => deps.events.countDocuments({ 'sends.to': _id }),
        /** What a worker does with the subscription's job. */
        pass: (stop = NEVER, waitNoLonger = NEVER) => sendEvents(deps, _id, { stop, waitNoLonger, places }),
      };
    },
    /** Events of a kind that needs nothing else. */
    happen(number = 1, more: Partial<NewEvent> = {}) {
      const events = Array.from({ length: number }, (): NewEvent => {
        made += 1;
        const votes = made;
        const at = clock.now();
        return {
          _id: eventIdOf('milestone', String(votes)),
          type: 'milestone',
          at,
          data: { votes },
          ...more,
        };
      });
      return storeEvents(deps, serverId, events).then(() => events as [NewEvent, ...NewEvent[]]);
    },
  };
}
