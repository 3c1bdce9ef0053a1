import { ObjectId } from 'mongodb';
import type { Complaint } from '../../src/moderation/complaint.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import type { Review } from '../../src/reviews/review.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { MOST_MEMBERS } from '../../src/servers/members.ts';
import { newVoteId } from '../../src/votes/cast/cast-vote.ts';
import { noDelivery, type Vote } from '../../src/votes/vote.ts';
import { ORIGIN_STORED_MS } from '../../src/votes/web/vote-origin.ts';

const BATCH = 5_000;
const HELD = 2_000;
/** Quarantines of one network: the first network has many, the others 20 each. */
const LARGEST_GROUP = 300;
const HELD_EACH = 5;
const HELD_ON_LARGEST = 1_200;
const USERS = 100_000;
const AUDITED = 200_000;

type Range = { serverIds: ObjectId[]; now: Date };

async function insertAll(collection: { insertMany: unknown }, all: object[]): Promise<void> {
  const { insertMany } = collection as { insertMany(some: object[], options: object): Promise<unknown> };
  for (let from = 0; from < all.length; from += BATCH)
    await insertMany.call(collection, all.slice(from, from + BATCH), { ordered: false });
}

const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));

/** What owners, members and operators find: thousands of items of each kind in the inbox, users, and the audit log. */
export async function loadOpenItems(deps: AppDeps, serverIds: ObjectId[]): Promise<void> {
  const range = { serverIds, now: deps.clock.now() };
  await holdVotes(deps, range);
  await loadReviews(deps, range);
  await flagServers(deps, range);
  await loadUsers(deps, range);
}

const serverAt = ({ serverIds }: Range, n: number) => serverIds[n % serverIds.length] as ObjectId;

/** The first quarantine is of a big server, and has more votes than a page reads. */
async function holdVotes(deps: AppDeps, range: Range): Promise<void> {
  const { now } = range;
  const model = {
    tokenId: null,
    by: 'automatic',
    undone: null,
    isQuarantine: true,
    days: [],
    votes: null,
    cause: 'network',
    reason: 'More than 5 players of one network voted for the first time within an hour.',
  };
  const quarantines = times(HELD, (n) => {
    const at = after(now, -n * MINUTE);
    const origin = `network-${n < LARGEST_GROUP ? 0 : Math.floor(n / 20)}`;
    const open = { state: 'quarantined', since: after(at, -MINUTE), until: at, at, origin };
    return { ...model, ...open, _id: new ObjectId(), serverId: serverAt(range, n) };
  });
  const decided = times(1_000, (n) => {
    const at = after(now, -n * HOUR);
    const done = { state: 'excluded', since: after(at, -DAY), until: at, at, votes: 50, isQuarantine: false };
    return {
      ...model,
      ...done,
      _id: new ObjectId(),
      serverId: serverAt(range, n % 50),
      by: 'op@example.org',
    };
  });
  await insertAll(deps.voteExclusions, [...quarantines, ...decided]);
  const votes = quarantines.flatMap(({ _id, serverId, at }, n) =>
    times(n === 0 ? HELD_ON_LARGEST : HELD_EACH, (k): Vote => {
      const votedAt = after(at, k * 10);
      const username = `held${n}x${k}`;
      const vote = {
        _id: newVoteId(votedAt),
        serverId,
        username,
        usernameKey: username,
        seq: 1,
        pageVotes: 1,
        votedAt,
      };
      const held = { excludedAt: votedAt, quarantinedAt: votedAt, excludedBy: [_id] };
      return { ...vote, ...held, tokenId: null, source: 'web', delivery: noDelivery() };
    }),
  );
  await insertAll(deps.votes, votes);
  const networks = quarantines.flatMap(({ serverId }, n) =>
    times(n === 0 ? 2_000 : 3, (k) => ({
      _id: `network-${n}-${k}:2026-01-01`,
      kind: 'network',
      players: [{ serverId, player: `player-${k}` }],
      expiresAt: after(now, ORIGIN_STORED_MS - HOUR),
    })),
  );
  await insertAll(deps.voteOrigins, networks);
}

/** The first server has 5,000 approved reviews, the next 200 have 100 each; 5,000 reviews wait for a decision. */
async function loadReviews({ reviews, reviewLists, complaints }: AppDeps, range: Range): Promise<void> {
  const { now } = range;
  const review = (n: number, more: Partial<Review>): Review => ({
    _id: new ObjectId(),
    serverId: serverAt(range, n),
    username: `Reviewer ${n}`,
    rating: 1 + (n % 5),
    content: 'Kind people, fair rules, and events at the weekend.',
    state: 'pending',
    createdAt: after(now, -n * 10 * MINUTE),
    moderatedAt: null,
    ...more,
  });
  const approve = (n: number, server: number) =>
    review(n, { serverId: serverAt(range, server), state: 'approved', moderatedAt: now });
  const approved = [
    ...times(5_000, (n) => approve(n, 0)),
    ...times(20_000, (n) => approve(n % 2_000, 1 + (n % 200))),
  ];
  await insertAll(reviews, [...approved, ...times(5_000, (n) => review(n, {}))]);
  const lists = [...Map.groupBy(approved, ({ serverId }) => serverId.toHexString())].map(([id, of]) => ({
    _id: new ObjectId(id),
    count: of.length,
    ratingSum: 3 * of.length,
    spread: { '3': of.length },
    entries: of.map(({ _id, createdAt, rating }) => ({ id: _id, at: createdAt, rating })),
  }));
  await reviewLists.deleteMany({ _id: { $in: lists.map(({ _id }) => _id) } });
  await insertAll(reviewLists, lists);
  const open = times(
    3_000,
    (n): Complaint => ({
      _id: new ObjectId(),
      serverId: serverAt(range, n % 1_500),
      kind: 'fake-figures',
      text: 'It shows 1,100 players, and we were nine in the lobby.',
      at: after(now, -n * MINUTE),
      isOpen: true,
    }),
  );
  await insertAll(complaints, open);
}

async function flagServers({ servers }: AppDeps, range: Range): Promise<void> {
  const { serverIds, now } = range;
  const flag = (from: number, count: number, set: object) =>
    servers.updateMany({ _id: { $in: serverIds.slice(from, from + count) } }, { $set: set });
  const { length } = serverIds;
  await flag(Math.floor(length / 2), 3_000, { isUnseen: true });
  await flag(300, 1_000, { unusualVotes: { at: now, votes: 900, web: 900, ofToken: 0, players: 3 } });
  await flag(1_300, 1_000, { playersDiffer: { at: now, reported: 90, probed: 1 } });
  await flag(2_300, 1_000, { playersJumped: { at: now, players: 900, usual: 4 } });
  await flag(length - 1_000, 500, { hiddenAt: now, hiddenReason: 'Not a game server.' });
  await flag(length - 500, 500, { removedAt: now });
}

async function loadUsers(deps: AppDeps, range: Range): Promise<void> {
  const { now } = range;
  const users = times(USERS, (n) => ({
    _id: new ObjectId(),
    name: `User ${n}`,
    email: `user-${n}@example.org`,
    emailVerified: true,
    createdAt: after(now, -n * MINUTE),
    updatedAt: now,
    role: n % 5_000 ? 'owner' : 'operator',
    twoFactorEnabled: false,
    wantsMail: true,
  }));
  await insertAll(deps.users, users);
  const members = users
    .slice(1, 1 + MOST_MEMBERS)
    .map(({ _id: userId }) => ({ userId, role: 'full' as const, at: now }));
  await deps.servers.updateOne({ _id: serverAt(range, 0) }, { $set: { members } });
  for (const n of times(20, (n) => n))
    await issueToken(deps, { serverId: serverAt(range, 0), name: `token ${n}` });
  const entries = times(AUDITED, (n) => ({
    _id: new ObjectId(),
    at: after(now, -n * MINUTE),
    by: n % 4 ? `user-${n % 1_000}@example.org` : 'cli',
    action: n % 3 ? 'server.edit' : 'listener.set',
    serverId: serverAt(range, n % 5_000),
    details: { revision: n },
  }));
  await insertAll(deps.auditLog, entries);
}
