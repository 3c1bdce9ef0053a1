import type { ObjectId, UUID } from 'mongodb';
import { after, DAY } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import {
  keepReminder,
  type PushSubscriptionKeys,
  type ReminderInput,
} from '../../src/reminders/keep-reminder.ts';
import { readPushKey } from '../../src/reminders/read-push-key.ts';
import { createReminders } from '../../src/reminders/send-reminders.ts';
import { type FakePushService, type FakeSubscription, toThisMachine } from '../support/fake-push-service.ts';
import { listServers } from '../support/servers.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';

/** Three in the afternoon in Berlin. */
export const NOON = new Date('2026-11-30T14:00:00Z');

export type Bench = {
  deps: AppDeps;
  clock: StoppedClock;
  servers: ObjectId[];
  vote(server: number, player: string, at?: Date): Promise<UUID>;
  keep(
    subscription: PushSubscriptionKeys,
    votes: UUID[],
    more?: Partial<ReminderInput>,
  ): ReturnType<typeof keepReminder>;
  /** The same worker process in all calls. */
  send: () => ReturnType<ReturnType<typeof createReminders>>;
  /** Lets a day pass since the votes. */
  nextDay(): void;
};

export async function reminderBench(env: Record<string, string> = {}): Promise<Bench> {
  const clock = stoppedClock(NOON);
  const opened = await testDeps({
    PUBLIC_URL: 'https://listing.example',
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    ...env,
  });
  const deps = { ...opened, clock };
  const servers = await listServers(deps, [{ name: 'Alpha' }, { name: 'Beta' }]);
  const sendReminders = createReminders(deps);
  return {
    deps,
    clock,
    servers,
    async vote(server, player, at = clock.now()) {
      const serverId = servers[server] as ObjectId;
      const seq = 1 + (await deps.votes.countDocuments({ serverId, usernameKey: player }));
      const vote = storedVote(serverId, player, at, { seq });
      await deps.votes.insertOne(vote);
      return vote._id;
    },
    async keep({ endpoint, p256dh, auth }, votes, more = {}) {
      const publicKey = await readPushKey(deps);
      const browser = { timeZone: 'Europe/Berlin', language: 'de', userId: null };
      return keepReminder(
        deps,
        { endpoint, p256dh, auth, publicKey, ...browser, votes, ...more },
        '203.0.113.7',
      );
    },
    send: () => sendReminders({ signal: new AbortController().signal, lookup: toThisMachine }),
    nextDay: () => clock.set(after(clock.now(), DAY)),
  };
}

export const messagesTo = (service: FakePushService, { endpoint }: FakeSubscription) =>
  service.received.filter(({ path }) => endpoint.endsWith(path));
