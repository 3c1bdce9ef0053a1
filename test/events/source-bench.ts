import { ObjectId } from 'mongodb';
import type { EventKind } from '../../src/events/kinds.ts';
import { createVoteWatch } from '../../src/events/sources/watch-votes.ts';
import type { Subscription } from '../../src/events/subscription.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { addOwnedServer, addOwner } from '../support/owned-server.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';

export const NEVER = new AbortController().signal;

export async function subscribe(
  { subscriptions, clock }: AppDeps,
  serverId: ObjectId,
  kinds: EventKind[],
  more: Partial<Subscription> = {},
): Promise<ObjectId> {
  const now = clock.now();
  const _id = new ObjectId();
  await subscriptions.insertOne({
    _id,
    serverId,
    slot: await subscriptions.countDocuments({ serverId }),
    type: 'http',
    name: 'Test',
    kinds,
    url: 'https://example.org/hook',
    sealedSecret: 'sealed',
    revision: 1,
    createdAt: now,
    since: now,
    failures: 0,
    calls: 0,
    ...more,
  });
  return _id;
}

/** A listed server, a clock that stands, and the watching of votes by one process. */
export async function sourceBench(at = '2026-11-21T10:00:00.000Z', env: Record<string, string> = {}) {
  const clock = stoppedClock(new Date(at));
  const deps: AppDeps = { ...(await testDeps(env)), clock };
  const ownerId = await addOwner(deps);
  const serverId = await addOwnedServer(deps, ownerId);
  const look = createVoteWatch(deps);
  let players = 0;
  return {
    deps,
    clock,
    ownerId,
    serverId,
    subscribe: (kinds: EventKind[], more: Partial<Subscription> = {}) =>
      subscribe(deps, serverId, kinds, more),
    /** Stores votes that count, without counting them. */
    async cast(number = 1, more: Partial<Vote> = {}, server = serverId) {
      const votes = Array.from({ length: number }, (_, i) =>
        storedVote(server, `Player${players + i}`, more.votedAt ?? clock.now(), more),
      );
      players += number;
      await deps.votes.insertMany(votes);
      return votes as [Vote, ...Vote[]];
    },
    /** Adds the votes to the counters, as casting them does. */
    async count(votes: Vote[]) {
      for (const vote of votes) deps.voteCounts.add(vote);
      await deps.voteCounts.flush();
    },
    recount: (day = dayOf(clock.now())) => recountVotes(deps, serverId, [day]),
    look: () => look(NEVER),
    /** As a process that has just started looks. */
    lookAnew: () => createVoteWatch(deps)(NEVER),
    events: (type?: string) =>
      deps.events
        .find({ serverId, ...(type ? { type: type as never } : {}) })
        .sort({ at: 1, 'data.monthly_votes': 1 })
        .toArray(),
  };
}
