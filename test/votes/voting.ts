import { ObjectId } from 'mongodb';
import { afterAll, inject } from 'vitest';
import { after, DAY } from '../../src/platform/clock.ts';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import type { IdempotencyKey } from '../../src/votes/cast/cast-once.ts';
import { type Accepted, newVoteId, type Refused } from '../../src/votes/cast/cast-vote.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { type Ballot, type castOnce, castVote } from '../support/casting.ts';
import { migrateFresh } from '../support/databases.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testConfig } from '../support/test-deps.ts';

/** Two processes on one migrated database. */
export type Voting = {
  one: AppDeps;
  /** Its connections to MongoDB go through `proxy`. */
  other: AppDeps;
  proxy: FaultProxy;
  /** Process `one` with a clock of its own, stopped at `when`: `2026-05-04T10:00:00.000Z`. */
  at(when: string | Date): { deps: AppDeps; clock: StoppedClock };
  close(): Promise<void>;
};

const opened = new Set<AppDeps>();

/** Writes the increments that the processes of this file have pending. */
export async function flushCounts(): Promise<void> {
  await Promise.all([...opened].map(({ voteCounts }) => voteCounts.flush()));
}

/** Opens two processes on a database and queues of their own, on the mongod at `uri`. */
export async function openVoting(uri: string = inject('mongodbUri')): Promise<Voting> {
  const proxy = await startFaultProxy(Number(new URL(uri).port), 'mongodb');
  const config = testConfig();
  const address = new URL(config.MONGODB_URI);
  address.host = new URL(uri).host;
  const direct = { ...config, MONGODB_URI: address.href };
  const one = await openAppDeps(direct, 'one');
  await migrateFresh(one, direct.MONGODB_URI);
  const other = await openAppDeps({ ...direct, MONGODB_URI: proxy.through(direct.MONGODB_URI) }, 'other');
  const both = [one, other];
  for (const deps of both) opened.add(deps);
  return {
    one,
    other,
    proxy,
    at(when) {
      const clock = stoppedClock(new Date(when));
      return { deps: { ...one, clock }, clock };
    },
    async close() {
      for (const deps of both) opened.delete(deps);
      await Promise.all(both.map((deps) => deps.close()));
      await proxy.close();
    },
  };
}

/** The same for a whole test file: closed after its last test. */
export async function votingForAll(): Promise<Voting> {
  const voting = await openVoting();
  afterAll(() => voting.close());
  return voting;
}

/** What a plugin asks: a vote of `username`, for a server that nobody else votes for unless it is named. */
export function ballot(username: string, serverId = new ObjectId()): Ballot {
  return { serverId, username, tokenId: new ObjectId() };
}

/** The note of a key whose request began and has no answer yet. */
export function unansweredKey(
  { clock }: Pick<AppDeps, 'clock'>,
  { serverId, username, key }: Ballot & { key: string },
): IdempotencyKey {
  const now = clock.now();
  return {
    _id: new ObjectId(),
    serverId,
    key,
    username,
    voteId: newVoteId(now),
    expiresAt: after(now, DAY),
    answer: null,
  };
}

/** Casts a vote that is expected to be accepted. */
export async function accept(deps: AppDeps, request: Ballot): Promise<Accepted> {
  const end = await castVote(deps, request);
  if (end.kind !== 'accepted') throw new Error(`the vote of ${request.username} was refused`);
  return end;
}

/** Casts votes at once, as many plugins do; all are expected to be accepted. */
export function acceptAll(deps: AppDeps, requests: Ballot[]): Promise<Accepted[]> {
  return Promise.all(requests.map((request) => accept(deps, request)));
}

/** Casts a vote that is expected to be refused. */
export async function refuse(deps: AppDeps, request: Ballot): Promise<Refused> {
  const end = await castVote(deps, request);
  if (end.kind !== 'refused') throw new Error(`the vote of ${request.username} was accepted`);
  return end;
}

/** An answer's body, in which all that the vote decides stands. */
export function bodyOf({ vote, monthlyVotes }: Pick<Accepted, 'vote'> & { monthlyVotes?: number }): string {
  return JSON.stringify({ monthlyVotes, votedAt: vote.votedAt, username: vote.username });
}

/** What the client of a request with a key learns, without whether it is a replay. */
export function answerOf(end: Awaited<ReturnType<typeof castOnce>> | undefined): object | undefined {
  return end?.kind === 'answer' ? { body: end.body, voteId: end.voteId } : end;
}

/** All votes of a server as they are stored, in the order of their insertion numbers. */
export function votesOf({ votes }: Pick<AppDeps, 'votes'>, serverId: ObjectId): Promise<Vote[]> {
  return votes.find({ serverId }).sort({ usernameKey: 1, seq: 1 }).toArray();
}

/** What the counters say a server has, over all months, once nothing is pending. */
export async function counted(
  { voteCounters }: Pick<AppDeps, 'voteCounters'>,
  serverId: ObjectId,
): Promise<number> {
  await flushCounts();
  const counters = await voteCounters.find({ serverId }).toArray();
  return counters.flatMap(({ days }) => Object.values(days)).reduce((total, count) => total + count, 0);
}
