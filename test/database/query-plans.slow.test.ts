/**
 * Design rule 13: with 1,000 servers of data, the keys and documents (buckets, in a time series) that each query
 * of a request examines are at most 3 times those it returns, plus 10. MongoDB's profiler says what each
 * operation really did.
 */

import { type Document, ObjectId, UUID } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeOfLink, findAddressChange } from '../../src/accounts/address/change-address.ts';
import { createAuth } from '../../src/accounts/auth.ts';
import { deletionOfLink, findDeletion } from '../../src/accounts/deletion/request-deletion.ts';
import { finishSignUp, offerAccount } from '../../src/accounts/sign-up.ts';
import { setListener, showListener } from '../../src/delivery/change-listener.ts';
import { COUNTED_AT_MOST, firstQueuedAt } from '../../src/delivery/count-votes.ts';
import { diagnoseForOwner } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import { requestDiagnosis } from '../../src/delivery/diagnosis/request-diagnosis.ts';
import { serversWith } from '../../src/delivery/drain/lost-attempts.ts';
import { takeVotes } from '../../src/delivery/drain/take-votes.ts';
import { dueBy } from '../../src/delivery/due-votes-channel.ts';
import { countEarlierVotes } from '../../src/delivery/earlier-votes.ts';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { fetchingListener } from '../../src/delivery/fetch/fetching-listener.ts';
import { takeDeliveries } from '../../src/delivery/fetch/take-deliveries.ts';
import { FIGURE_DAYS } from '../../src/delivery/figures/delivery-day.ts';
import { deliveriesByDay } from '../../src/delivery/figures/delivery-figures.ts';
import { noDeliveries } from '../../src/delivery/figures/delivery-sums.ts';
import { listenerOverview } from '../../src/delivery/listener-overview.ts';
import { lastRefusedVote } from '../../src/delivery/refused-vote.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { addSubscription } from '../../src/events/subscriptions.ts';
import { favouriteIds, listFavourites, notedUsername } from '../../src/favourites/favourites.ts';
import { removeGoal, setGoal } from '../../src/goals/change-goal.ts';
import { readGoalProgress } from '../../src/goals/goal-progress.ts';
import { lastRounds, unannouncedRounds } from '../../src/goals/goal-rounds.ts';
import { historyBetween, historyOf } from '../../src/history/history.ts';
import { reportStatus } from '../../src/history/report-status.ts';
import { readServerInfo } from '../../src/history/server-info.ts';
import { uptimeDays } from '../../src/history/uptime-days.ts';
import type { Listener } from '../../src/listeners/listener.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import { setRewards } from '../../src/listeners/rewards.ts';
import { openComplaints } from '../../src/moderation/complaints.ts';
import { heldVotes } from '../../src/moderation/held-evidence.ts';
import { countAttention } from '../../src/moderation/needs-attention.ts';
import { recordAudit } from '../../src/platform/audit/audit-log.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { explainRank } from '../../src/ranking/explain-rank.ts';
import { pickServers, readPicks } from '../../src/ranking/list-picks.ts';
import { randomSlug, serverAbove, similarServers } from '../../src/ranking/picked-servers.ts';
import { readPublicServer, readPublicServers } from '../../src/ranking/public-servers.ts';
import { ranksAfter } from '../../src/ranking/rank-snapshots.ts';
import {
  addressesOf,
  readListingSummary,
  readListPage,
  readNewcomers,
} from '../../src/ranking/read-lists.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { searchListing } from '../../src/ranking/search-listing.ts';
import { type WalkedPage, walkList } from '../../src/ranking/walk-list.ts';
import { noteVoteOf, startMailReminder, stopMailReminder } from '../../src/reminders/keep-mail-reminder.ts';
import { keepReminder } from '../../src/reminders/keep-reminder.ts';
import { readPushKey } from '../../src/reminders/read-push-key.ts';
import { ofUser } from '../../src/reminders/reminder.ts';
import { sendMailReminders } from '../../src/reminders/send-mail-reminders.ts';
import { createReminders } from '../../src/reminders/send-reminders.ts';
import { countReviewsOf, listOwnReviews, saveOwnReview } from '../../src/reviews/own-review.ts';
import { countUnanswered, readAnswered, readReviews } from '../../src/reviews/read-reviews.ts';
import { reviewersOf } from '../../src/reviews/reviewers.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { hasClaimKeys, issueToken, listTokens } from '../../src/servers/api-tokens.ts';
import { authenticate } from '../../src/servers/authenticate-token.ts';
import { findDraft, listDrafts } from '../../src/servers/drafts.ts';
import { findAddressOwner } from '../../src/servers/listed-addresses.ts';
import { addServer, editServer } from '../../src/servers/listed-servers.ts';
import { listNewServers } from '../../src/servers/moderate-server.ts';
import { findMove } from '../../src/servers/moves.ts';
import { deleteUnusedPictures, readPicture } from '../../src/servers/pictures.ts';
import { readTags } from '../../src/servers/tag-list.ts';
import { makeApiToken } from '../../src/servers/token-text.ts';
import { ADMIN_AREA } from '../../src/site/admin/admin-pages.ts';
import { readTopServers } from '../../src/site/admin/top-servers.ts';
import { readTodos } from '../../src/site/dashboard/server-todo.ts';
import type { Area } from '../../src/site/shared/area.ts';
import { SERVER_AREA } from '../../src/site/shared/dashboard-pages.ts';
import { checkVote } from '../../src/votes/cast/cooldown.ts';
import { decideHeld } from '../../src/votes/exclusions/decide-held.ts';
import { openGroups } from '../../src/votes/exclusions/held-votes.ts';
import { namesKnownSince } from '../../src/votes/exclusions/name-ages.ts';
import { countPlayerVotes } from '../../src/votes/exclusions/player-exclusion.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { pageOfVotes, type VotesWanted } from '../../src/votes/read-votes.ts';
import { topVoters } from '../../src/votes/top-voters.ts';
import { type Attempt, type Delivery, DUE_VOTES } from '../../src/votes/vote.ts';
import { monthOf } from '../../src/votes/vote-counts.ts';
import { votesByDay, votesByDayOfAll } from '../../src/votes/vote-figures.ts';
import { listCountedVotes } from '../../src/votes/vote-list.ts';
import { exportAccount } from '../../src/workflows/export-account.ts';
import { figuresByDay } from '../../src/workflows/figures/read-figures.ts';
import { listUsers, searchUsers } from '../../src/workflows/find-users.ts';
import { duePauses } from '../../src/workflows/pause-listing.ts';
import { showUser } from '../../src/workflows/show-user.ts';
import { insert, NOTHING, probe } from '../history/samples.ts';
import { linkTo, tokenOf } from '../site/account-pages.ts';
import { castVote } from '../support/casting.ts';
import { type FakeSubscription, startFakePushService, toThisMachine } from '../support/fake-push-service.ts';
import { addHistory } from '../support/server-history.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { deliveryIn, storedVote, waitingDelivery } from '../support/votes.ts';
import { CHEAP_PASSWORDS } from '../support/web-app.ts';
import { voteAs } from '../support/web-voters.ts';
import { withIds } from '../support/with-ids.ts';

const SERVERS = 1_000;

let tallyport: TestDeps;
/** Has far more of everything than the others. */
let busy: TestServer;
let other: TestServer;
/** A user with 60 favourites. */
const fan = new ObjectId();

beforeAll(async () => {
  tallyport = await startApp({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  const { deps, clock } = tallyport;
  busy = await tallyport.addServer({ name: 'Busy' });
  other = await tallyport.addServer({ name: 'Other' });
  const model = await deps.servers.findOne({ _id: busy.serverId });
  if (!model) throw new Error('not added');
  const { _id: _, slug: __, slugs: ___, ...rest } = model;
  const servers = Array.from({ length: SERVERS - 2 }, (_, i) => ({
    ...rest,
    slug: `server-${i}`,
    slugs: [`server-${i}`, `formerly-${i}`],
  }));
  const { insertedIds } = await deps.servers.insertMany(servers as never);
  const ids = Object.values(insertedIds);
  const now = clock.now();
  const entries = [busy.serverId, ...ids.slice(0, 59)].map((serverId) => ({ serverId, at: now }));
  await deps.favourites.insertOne({ _id: fan, username: 'Steve', entries });
  await addHistory(deps, ids, now, { votes: 6, months: 2, samples: 3, reviews: 2, keys: 1 });
  // Each server has a vote this month: the first vote of a month also inserts the counter.
  const month = monthOf(now);
  const counters = [busy.serverId, other.serverId, ...ids, ...quiet].map((serverId) => ({
    _id: new ObjectId(),
    serverId: new ObjectId(serverId),
    month,
    days: { '01': 1 },
  }));
  await deps.voteCounters.insertMany(counters);
  await addHistory(deps, [busy.serverId], now, {
    votes: 1_000,
    months: 24,
    samples: 800,
    reviews: 300,
    keys: 500,
  });
  // Oldest first, as they are stored: 28 days of hourly probes, and 2 days of a probe every 5 minutes.
  const from = after(now, -30 * DAY);
  const hourly = Array.from({ length: 28 * 24 }, (_, i) => after(from, i * HOUR));
  const often = Array.from({ length: 2 * 288 }, (_, i) => after(now, 5 * i * MINUTE - 2 * DAY));
  await insert(
    deps,
    [...hourly, ...often].map((at) => probe(other.serverId, at)),
  );
  const days = Array.from({ length: 60 }, (_, i) => dayOf(after(now, -(i + 1) * DAY)));
  const stats = [busy.serverId, ...ids].flatMap((serverId, i) =>
    days
      .slice(0, i < 30 ? days.length : 7)
      .map((day) => ({ serverId, day, probes: NOTHING, reports: NOTHING })),
  );
  // An earlier Votifier v1 listener confirmed none of these.
  const silent = await deps.votes
    .find({ serverId: busy.serverId, 'delivery.state': 'delivered' }, { projection: { _id: 1 } })
    .sort({ votedAt: 1 })
    .limit(120)
    .toArray();
  await deps.votes.updateMany(
    { serverId: busy.serverId, _id: { $in: silent.map(({ _id }) => _id) } },
    { $set: { 'delivery.codes': { 'sent-not-confirmed': 1 } } },
  );
  await deps.dailyStats.insertMany(stats as never);
  const counted = { ...noDeliveries(), countedAt: now, forgetAt: after(now, DAY) };
  const deliveries = stats
    .slice(0, 30 * days.length)
    .map(({ serverId, day }) => ({ serverId, day, ...counted }));
  await deps.deliveryDays.insertMany(deliveries as never);
  const figures = { servers: { listed: 1, added: 0, removed: 0 }, deliveries: noDeliveries(), signUps: 0 };
  await deps.siteFigures.insertMany(days.map((day) => ({ day, ...counted, ...figures })) as never);
  for (let i = 0; i < 50; i++) {
    await issueToken(deps, { serverId: busy.serverId, name: `token ${i}` });
    const serverId = ids[i] ?? other.serverId;
    await issueToken(deps, { serverId, name: 'plugin' });
  }
  const secret = new VotifierListener().token;
  const settings = { protocol: 'votifier-v2', host: 'play.example.org', port: 8_192, secret } as const;
  await setListener(deps, busy.serverId, { ...settings, serviceName: 'Tallyport' }, 'test');
  const listener = await deps.listeners.findOne({ serverId: busy.serverId });
  await deps.listeners.insertMany(
    ids.map((serverId) => ({ ...listener, _id: new ObjectId(), serverId })) as never,
  );
  const users = Array.from({ length: SERVERS }, (_, i) => ({
    name: `User ${i}`,
    email: `user-${i}@example.org`,
    emailVerified: true,
    createdAt: after(now, -Math.floor(i / 4) * MINUTE),
    updatedAt: now,
    role: i % 50 ? ('owner' as const) : ('operator' as const),
    twoFactorEnabled: false,
    wantsMail: true,
  }));
  await deps.users.insertMany(users as never);
  // Only the first request reads the indexes.
  await tallyport.call(busy, 'info');
}, 180_000);
afterAll(() => tallyport.close());

/** The database operations of `request`, with the update of the token's last use. */
function operationsOf(request: () => Promise<{ status: number }>, status: number): Promise<Document[]> {
  const { db } = tallyport.deps.mongo;
  tallyport.clock.move(2 * MINUTE);
  // As for a token that was not used recently.
  tallyport.deps.authentications.forget(() => true);
  return profiled(async () => {
    expect((await request()).status).toBe(status);
    await tallyport.deps.voteCounts.flush();
    if (status === 401) return;
    const noted = { ns: `${db.databaseName}.api_tokens`, op: 'update' };
    await expect.poll(() => db.collection('system.profile').findOne(noted)).not.toBeNull();
  });
}

async function profiled(work: () => Promise<unknown>): Promise<Document[]> {
  const { db } = tallyport.deps.mongo;
  const profile = db.collection('system.profile');
  // Counts of earlier calls, and the last uses of their tokens, do not belong to this one.
  await tallyport.deps.batcher.settle(SECOND);
  await tallyport.deps.voteCounts.flush();
  // It is read every five seconds, however many requests there are.
  tallyport.deps.blockList.forget();
  await tallyport.deps.blockList.findName('', new Date());
  await knowImports();
  await db.command({ profile: 2 });
  await work();
  await db.command({ profile: 0 });
  // The process itself reads `restores` every second, `settings` every 1.5 s, `import_marks` every 5 s, and writes its
  // line in `processes`.
  const own = {
    ns: { $not: /\.(system\.profile|restores|settings|processes|import_marks)$/ },
    'command.profile': { $exists: false },
  };
  const operations = await profile.find(own).sort({ ts: 1 }).toArray();
  await profile.drop();
  return operations;
}

/** So that a cooldown needs the second read only after an import of recent votes. */
function knowImports() {
  const { importedCooldowns, clock } = tallyport.deps;
  return expect.poll(() => importedCooldowns.mayBlock(clock.now())).toBe(isImportAnnounced);
}
let isImportAnnounced = false;

/** The list of blocks, as a vote reads it. */
function readBlocks() {
  tallyport.deps.blockList.forget();
  return tallyport.deps.blockList.findName('', new Date());
}

const put = (operation: Document) => `${operation.op} ${String(operation.ns).split('.').slice(1).join('.')}`;

const vote = (username: string, key?: string) => () =>
  tallyport.vote(busy, username, key ? { 'idempotency-key': key } : {});
const REPORT = { online_players: 1, max_players: 2, latency_ms: 3 };
const AUTHENTICATION = ['query api_tokens', 'query servers', 'update api_tokens'];

const REQUESTS: [string, number, () => Promise<{ status: number }>, string[]][] = [
  [
    'a vote',
    200,
    vote('Newcomer'),
    ['query votes', 'query listeners', 'query vote_counters', 'insert votes', 'update vote_counters'],
  ],
  [
    'a vote of a player with a long past',
    200,
    vote('Steve'),
    ['query votes', 'query listeners', 'query vote_counters', 'insert votes', 'update vote_counters'],
  ],
  // On a standalone mongod an empty update waits until the data that was read is in the journal.
  [
    'a vote that is refused',
    429,
    vote('Steve'),
    ['query votes', 'query listeners', 'query vote_counters', 'update votes'],
  ],
  [
    'a vote under a key',
    200,
    vote('Alex', 'new'),
    [
      'insert idempotency_keys',
      'query votes',
      // Whether an earlier request under this key has cast it.
      'query votes',
      'query listeners',
      'query vote_counters',
      'insert votes',
      'update vote_counters',
      'update idempotency_keys',
    ],
  ],
  [
    'a replay',
    200,
    vote('Alex', 'new'),
    ['insert idempotency_keys', 'query idempotency_keys', 'update votes'],
  ],
  [
    'a key used again',
    422,
    vote('Eve', 'new'),
    ['insert idempotency_keys', 'query idempotency_keys', 'update votes'],
  ],
  [
    'check-vote',
    200,
    () => tallyport.call(busy, 'check-vote?username=Steve'),
    ['query votes', 'update votes'],
  ],
  ['check-vote of nobody', 200, () => tallyport.call(busy, 'check-vote?username=Nobody'), ['query votes']],
  [
    'a report',
    200,
    () => tallyport.report(busy, REPORT),
    ['command servers', 'insert status_samples', 'command listeners'],
  ],
  [
    'a report that is refused',
    429,
    () => tallyport.report(busy, REPORT),
    ['command servers', 'query servers'],
  ],
  ['info', 200, () => tallyport.call(busy, 'info'), ['query servers', 'query vote_counters']],
  ['reviews', 200, () => tallyport.call(busy, 'reviews'), ['query review_lists', 'query reviews']],
  [
    'the last page of reviews',
    200,
    () => tallyport.call(busy, 'reviews?limit=50&page=6'),
    ['query review_lists', 'query reviews'],
  ],
  [
    'a page of one review',
    200,
    () => tallyport.call(busy, 'reviews?limit=1&page=300'),
    ['query review_lists', 'query reviews'],
  ],
  ['a page past the end', 200, () => tallyport.call(busy, 'reviews?page=99'), ['query review_lists']],
];

test.each(REQUESTS)('%s', async (_, status, request, expected) => {
  const operations = await operationsOf(request, status);
  expect(operations.map(put).toSorted()).toEqual([...AUTHENTICATION, ...expected].toSorted());
  for (const operation of operations) expectIndexed(operation);
});

const MANY = 40;
/** Servers that get no other votes in this file. */
const quiet = Array.from({ length: MANY }, () => new ObjectId());
const ballotOf = (n: number) => ({
  // Every fourth vote is that of a player with many earlier votes, and is refused.
  serverId: n % 4 ? (quiet[n] as ObjectId) : busy.serverId,
  username: 'Steve',
  tokenId: busy.tokenId,
});

/** The operations of many concurrent requests. The profiler shows one update command as many operations. */
const TOGETHER: [string, (n: number) => Promise<unknown>, string[]][] = [
  [
    'votes',
    (n) => castVote(tallyport.deps, ballotOf(n)),
    // The newest votes; then the counters are read and written.
    ['command votes', 'query listeners', 'insert votes', 'query vote_counters'],
  ],
  [
    'questions whether players voted',
    (n) => checkVote(tallyport.deps, ballotOf(n).serverId, 'Steve'),
    ['command votes'],
  ],
  [
    'reports',
    async (n) => {
      const { serverId } = n % 2 ? busy : other;
      return reportStatus(tallyport.deps, serverId, { onlinePlayers: n, maxPlayers: 100 });
    },
    // The earlier reports, which of these were written, and the recent reports that prevent the others; then two servers are back.
    [
      'query servers',
      'query servers',
      'query servers',
      'insert status_samples',
      'command listeners',
      'command listeners',
    ],
  ],
  [
    'the figures of servers',
    (n) => readServerInfo(tallyport.deps, n % 2 ? busy.serverId : other.serverId),
    ['query servers', 'query vote_counters'],
  ],
  [
    'reviews',
    (n) =>
      readReviews(tallyport.deps, n % 2 ? busy.serverId : other.serverId, {
        page: 1 + (n % 2),
        limit: 50,
      }),
    ['query review_lists', 'query review_lists', 'query reviews'],
  ],
  [
    'calls with the tokens of two servers',
    async (n) => {
      const { serverId, token } = n % 2 ? busy : other;
      expect(await authenticate(tallyport.deps, serverId.toHexString(), token)).not.toBeNull();
    },
    ['query api_tokens', 'query servers'],
  ],
];

test.each(TOGETHER)('%s in flight together share their operations', async (_, ask, expected) => {
  tallyport.clock.move(10 * MINUTE);
  const operations = await profiled(() => Promise.all(Array.from({ length: MANY }, (_, n) => ask(n))));
  for (const operation of operations) expectIndexed(operation);
  const shared = operations.map(put).filter((operation) => !operation.startsWith('update'));
  expect(shared.toSorted()).toEqual(expected.toSorted());
});

test('within a day of an import of recent votes, questions whether players voted also read the imported votes', async () => {
  const { clock } = tallyport;
  const { importedCooldowns, importMarks } = tallyport.deps;
  await importedCooldowns.announce(after(clock.now(), HOUR), clock.now());
  isImportAnnounced = true;
  const ask = () => checkVote(tallyport.deps, busy.serverId, 'Steve');
  const alone = await profiled(ask);
  const together = await profiled(() =>
    Promise.all(
      Array.from({ length: MANY }, (_, n) => checkVote(tallyport.deps, ballotOf(n).serverId, 'Steve')),
    ),
  );
  await importMarks.deleteMany({});
  clock.move(2 * HOUR);
  isImportAnnounced = false;
  const reads = (operations: Document[]) =>
    operations.map(put).filter((operation) => !operation.startsWith('update'));
  expect(reads(alone)).toEqual(['query votes', 'query votes']);
  expect(reads(together)).toEqual(['command votes', 'command votes']);
  for (const operation of [...alone, ...together]) expectIndexed(operation);
});

test.each([
  ['an unknown token', () => ({ ...busy, token: makeApiToken() })],
  ['a token of another server', () => ({ ...busy, token: other.token })],
])('a call with %s', async (_, caller) => {
  const operations = await operationsOf(() => tallyport.call(caller(), 'info'), 401);
  expect(operations.map(put).toSorted()).toEqual(['query api_tokens', 'query servers']);
  for (const operation of operations) expectIndexed(operation);
});

test.each([
  ['the newest samples of a chart', '48h', ['query servers', 'query status_samples']],
  ['the hours of a chart', '30d', ['query servers', 'command status_samples']],
  ['the days of a chart', 'all', ['query servers', 'query daily_stats']],
] as const)('%s', async (_, range, expected) => {
  const operations = await profiled(() => historyOf(tallyport.deps, other.serverId, range));
  // A long answer comes in several parts.
  const begun = operations.map(put).filter((operation) => !operation.startsWith('getmore'));
  expect([...new Set(begun)]).toEqual(expected);
  for (const operation of operations) expectIndexed(operation);
});

test('the thirty days of uptime', async () => {
  const operations = await profiled(() => uptimeDays(tallyport.deps, busy.serverId));
  expect(operations.map(put)).toEqual(['query servers', 'query daily_stats']);
  for (const operation of operations) expectIndexed(operation);
});

test('the API’s history of some hours and days reads only theirs', async () => {
  const { deps, clock } = tallyport;
  const ago = (days: number) => after(clock.now(), -days * DAY);
  const read = async (serverId: ObjectId, step: 'hour' | 'day', from: Date, to: Date) => {
    let points = 0;
    const operations = await profiled(async () => {
      points = (await historyBetween(deps, serverId, { step, from, to })).length;
    });
    expect(points).toBeGreaterThan(0);
    for (const operation of operations) expectIndexed(operation, `${points} of ${step}`);
    return operations.map(put).filter((operation) => !operation.startsWith('getmore'));
  };
  for (const [from, to] of [
    [ago(20), ago(19)],
    [ago(29), ago(3)],
  ] as const)
    expect(await read(other.serverId, 'hour', from, to)).toEqual(['query servers', 'command status_samples']);
  for (const [from, to] of [
    [ago(50), ago(45)],
    [ago(400), ago(0)],
  ] as const)
    expect(await read(busy.serverId, 'day', from, to)).toEqual(['query servers', 'query daily_stats']);
});

test('an operator’s page of a listener with many votes, and the second page of a state', async () => {
  const { deps } = tallyport;
  const listener = await deps.listeners.findOne({ serverId: busy.serverId });
  if (!listener) throw new Error('not set');
  const read = (page: Parameters<typeof listenerOverview>[2]) =>
    profiled(() => listenerOverview(deps, listener._id, page));
  const first = await listenerOverview(deps, listener._id, { state: 'delivered' });
  for (const page of [{}, { state: 'delivered' as const, from: first?.next ?? undefined }]) {
    const operations = await read(page);
    const counted = ['command votes', 'command votes', 'command votes'];
    const expected = [...counted, 'query listeners', 'query servers', 'query votes', 'query votes'];
    expect(operations.map(put).toSorted()).toEqual(expected);
    for (const operation of operations) expectIndexed(operation);
  }
});

test.each<[string, VotesWanted & { recent?: boolean }, number]>([
  ['of all votes', {}, 50],
  ['of a state', { state: 'delivered' }, 50],
  ['of a state and some days', { state: 'delivered', recent: true }, 1],
  ['of those that nobody confirmed', { state: 'sent-not-confirmed' }, 50],
  ['of a player', { player: 'STEVE' }, 20],
  ['of a player, a state and some days', { player: 'Steve', state: 'failed', recent: true }, 0],
])('an owner’s page %s, and the next one', async (_, { recent, ...wanted }, atLeast) => {
  const { deps, clock } = tallyport;
  const range = recent ? { since: after(clock.now(), -40 * DAY), until: clock.now() } : {};
  const from = (await pageOfVotes(deps, busy.serverId, { ...wanted, ...range })).next ?? undefined;
  for (const begins of [undefined, from]) {
    const read = async () => {
      const { votes } = await pageOfVotes(deps, busy.serverId, { ...wanted, ...range }, begins);
      if (!begins) expect(votes.length).toBeGreaterThanOrEqual(atLeast);
    };
    const operations = await profiled(read);
    expect(operations.map(put)).toEqual(['query votes']);
    for (const operation of operations) expectIndexed(operation);
  }
});

test('the state of a server’s listener, and one vote with its timeline', async () => {
  const { deps, clock } = tallyport;
  const { serverId } = busy;
  const shown = await profiled(() => showListener(deps, serverId, COUNTED_AT_MOST));
  expect(shown.map(put)).toEqual(['query listeners', 'command votes', 'command votes', 'command votes']);
  const vote = await deps.votes.findOne({ serverId });
  if (!vote) throw new Error('no vote');
  const told = await profiled(() => voteTimeline(deps, vote, null, clock.now()));
  const found = await profiled(() => deps.votes.findOne({ serverId, _id: vote._id }));
  const first = await profiled(() => firstQueuedAt(deps.votes, serverId));
  expect(first.map(put)).toEqual(['query votes']);
  const refused = await profiled(() => lastRefusedVote(deps, { serverId, updatedAt: new Date(0) }));
  for (const operation of [...shown, ...told, ...found, ...first, ...refused]) expectIndexed(operation);
});

test('a diagnosis for an owner', async () => {
  const { deps } = tallyport;
  const withSend = { ...deps, send: async () => outcome('acknowledged', 'acknowledged') };
  const request = { ownerId: 'owner', serverId: busy.serverId, proven: true };
  const ask = async () =>
    (await requestDiagnosis(deps, request)) ?? (await diagnoseForOwner(withSend, request.serverId));
  const servers = Array.from({ length: 1_000 }, (_, n) => {
    return { _id: `owner ${n}`, askedAt: [deps.clock.now()], expiresAt: deps.clock.now() };
  });
  await deps.diagnosisAllowances.insertMany(servers);
  const taken = await profiled(ask);
  expect(taken.map(put)).toEqual([
    'query servers',
    'query listeners',
    'update diagnosis_allowances',
    'query servers',
    'query listeners',
    'update listeners',
    // What the test found, for the listener's page.
    'update listeners',
  ]);
  for (let n = 1; n < 6; n += 1) await ask();
  const refused = await profiled(ask);
  expect(refused.map(put)).toContain('query diagnosis_allowances');
  for (const operation of [...taken, ...refused]) expectIndexed(operation);
});

const nobody = () => other.serverId;
const PAGES: [name: string, queries: () => Promise<unknown>][] = [
  ['the drafts of a user', () => listDrafts(tallyport.deps, nobody())],
  ['one draft', () => findDraft(tallyport.deps, nobody(), nobody())],
  ['where a server is to move to', () => findMove(tallyport.deps, busy.serverId)],
  ['where its second address is to be', () => findMove(tallyport.deps, busy.serverId, 'second')],
  [
    'who has a place',
    () => findAddressOwner(tallyport.deps, { address: 'nowhere.example', port: 1_024 }, nobody()),
  ],
  ['the tokens of a server', () => listTokens(tallyport.deps, busy.serverId)],
  [
    'a page of reviews with answers',
    () => readAnswered(tallyport.deps, busy.serverId, { page: 2, limit: 10 }),
  ],
  [
    'the reviewers of a page of reviews',
    () =>
      reviewersOf(
        tallyport.deps,
        busy.serverId,
        Array.from({ length: 10 }, (_, n) => ({ username: `Player ${n}`, personId: nobody() })),
      ),
  ],
  ['a user’s reviews', () => listOwnReviews(tallyport.deps, nobody(), { from: undefined, limit: 20 })],
  ['the number of a user’s reviews', () => countReviewsOf(tallyport.deps, nobody())],
  ['the favourites of a user', () => favouriteIds(tallyport.deps, fan)],
  ['the player name of a user', () => notedUsername(tallyport.deps, fan)],
  ['a page of favourites with next votes', () => listFavourites(tallyport.deps, fan, { page: 1, limit: 50 })],
  ['the pauses whose date has come', () => duePauses(tallyport.deps)],
  ['a change of an address', () => findAddressChange(tallyport.deps, nobody())],
  ['a change of an address by its link', () => changeOfLink(tallyport.deps, 'x')],
  ['a deletion of an account', () => findDeletion(tallyport.deps, nobody())],
  ['a deletion of an account by its link', () => deletionOfLink(tallyport.deps, 'x')],
  ['the newest votes that count', () => listCountedVotes(tallyport.deps, busy.serverId, 100)],
  ['votes by day', () => votesByDay(tallyport.deps, busy.serverId, 90)],
  ['deliveries by day', () => deliveriesByDay(tallyport.deps, busy.serverId, FIGURE_DAYS)],
  ['the claim keys of a server', () => hasClaimKeys(tallyport.deps, busy.serverId)],
  [
    'the list of a user’s servers',
    async () => {
      const ids = [busy.serverId, other.serverId];
      await readTodos(
        tallyport.deps,
        ids.map((_id) => ({ _id })),
      );
      await votesByDayOfAll(tallyport.deps, ids, 30);
      await ranksAfter(tallyport.deps, ids, '2026-11-21');
    },
  ],
  ['the figures of the site by day', () => figuresByDay(tallyport.deps, 30)],
  ['the first servers of the ranking by votes', () => readTopServers(tallyport.deps)],
  [
    'the votes cast before a listener was set',
    async () => {
      const rewards = 'push' as const;
      const listener = { serverId: busy.serverId, createdAt: tallyport.deps.clock.now(), rewards };
      await countEarlierVotes(tallyport.deps, listener);
    },
  ],
];

test.each(PAGES)('%s', async (_, queries) => {
  const operations = await profiled(queries);
  expect(operations.length).toBeGreaterThan(0);
  for (const operation of operations) expectIndexed(operation);
});

test('the vote goal of a server', async () => {
  const { deps } = tallyport;
  await setGoal(deps, busy.serverId, { target: 5, period: 'rolling' }, 'test');
  const operations = [
    ...(await profiled(() => readGoalProgress(deps, busy.serverId))),
    ...(await profiled(() => lastRounds(deps, busy.serverId, 20))),
    ...(await profiled(() => unannouncedRounds(deps))),
  ];
  expect(operations.map(put)).toContain('query vote_goals');
  for (const operation of operations) expectIndexed(operation);
  await removeGoal(deps, busy.serverId, 'test');
});

test('tags and pictures of profiles', async () => {
  const { deps } = tallyport;
  const { servers } = deps;
  const all = await servers.find({}, { projection: { _id: 1 } }).toArray();
  const id = (number: number) => number.toString(16).padStart(64, '0');
  await servers.bulkWrite(
    all.map(({ _id }, i) => {
      const banner = { wide: id(2 * i), narrow: id(2 * i + 1), width: 1_200, height: 300 };
      const profile = {
        tags: [i % 3 ? 'survival' : 'creative', 'pvp'],
        icon: { source: 'x', picture: id(9_999) },
        banner,
      };
      return { updateOne: { filter: { _id }, update: { $set: { profile } } } };
    }),
  );
  await deps.pictures.insertMany(
    all.map((_, i) => ({ _id: id(5_000 + i), bytes: Buffer.from('x'), usedAt: new Date(0) })),
  );
  const operations = [
    ...(await profiled(() => readTags(deps))),
    ...(await profiled(() => readPicture(deps, id(5_001)))),
    ...(await profiled(() => deleteUnusedPictures(deps, [id(5_001), id(40), id(41)]))),
    ...(await profiled(() =>
      servers.find({ 'profile.tags': 'creative' }).sort({ rankPosition: 1 }).limit(50).toArray(),
    )),
  ];
  expect(operations.length).toBeGreaterThanOrEqual(5);
  for (const operation of operations) expectIndexed(operation);
  await servers.updateMany({}, { $unset: { profile: '' } });
});

test.each([
  ['the newest users', () => listUsers(tallyport.deps, { limit: 50 })],
  [
    'a later page of users',
    async () => {
      const { next } = await listUsers(tallyport.deps, { limit: 50 });
      return listUsers(tallyport.deps, { limit: 50, from: next ?? undefined });
    },
  ],
  ['the operators', () => listUsers(tallyport.deps, { role: 'operator', limit: 50 })],
  ['the blocks', () => readBlocks()],
  ['a search for users', () => searchUsers(tallyport.deps, { text: 'USER-7', limit: 50 })],
  ['a search for users by name', () => searchUsers(tallyport.deps, { text: 'user 71', limit: 50 })],
  [
    'a search for operators',
    () => searchUsers(tallyport.deps, { text: 'USER-7', role: 'operator', limit: 50 }),
  ],
  [
    'a search for operators by name',
    () => searchUsers(tallyport.deps, { text: 'user 7', role: 'operator', limit: 50 }),
  ],
  [
    'one user',
    async () => {
      const somebody = await tallyport.deps.users.findOne({ email: 'user-500@example.org' });
      return showUser(tallyport.deps, somebody?._id ?? busy.serverId);
    },
  ],
])('%s', async (_, look) => {
  const operations = await profiled(look);
  expect(operations.length).toBeGreaterThan(0);
  for (const operation of operations) expectIndexed(operation);
});

test('signing up by a link, while a thousand other links wait', async () => {
  const config = { ...tallyport.deps.config, SMTP_URL: 'smtp://127.0.0.1:1' };
  const deps = { ...tallyport.deps, config, passwords: CHEAP_PASSWORDS };
  const email = 'newcomer@example.org';
  const waiting = Array.from({ length: 1_000 }, (_, n) => ({
    _id: new ObjectId(),
    identifier: `sign-up:${n}`,
    value: `user-${n}@example.org`,
    expiresAt: after(deps.clock.now(), HOUR),
  }));
  await deps.verifications.insertMany(waiting);
  const offered = await profiled(() => offerAccount(deps, email));
  const token = tokenOf(await linkTo(deps, email));
  const auth = createAuth(deps, async () => {});
  const chosen = { token, name: 'Nora', password: PASSWORD };
  const finished = await profiled(async () => {
    expect(await finishSignUp(deps, auth, chosen)).toMatchObject({ email });
  });
  expect(Math.min(offered.length, finished.length)).toBeGreaterThan(0);
  for (const operation of [...offered, ...finished]) expectIndexed(operation);
});

test('the vote form, also when it holds votes, beside a thousand networks and held groups', async () => {
  const { deps } = tallyport;
  const now = deps.clock.now();
  const servers = await deps.servers.find({}).limit(10).toArray();
  const networks = Array.from({ length: 1_000 }, (_, n) => ({
    _id: `network-${n}`,
    kind: 'network' as const,
    players: [{ serverId: other.serverId, player: `player-${n}` }],
    expiresAt: after(now, (n % 30) * DAY),
  }));
  await deps.voteOrigins.insertMany(networks);
  const heldId = await openQuarantine(deps, new ObjectId(), 'Unusual.', { cause: 'network', origin: 'o' });
  const held = await deps.voteExclusions.findOne({ _id: heldId });
  await deps.voteExclusions.insertMany(
    networks.map(({ _id: origin }) => ({
      ...held,
      _id: new ObjectId(),
      serverId: new ObjectId(),
      origin,
    })) as never,
  );
  const voter = { address: '203.0.113.9', account: null };
  const outcomes: string[] = [];
  const operations = await profiled(async () => {
    for (const [n, { _id }] of servers.entries())
      outcomes.push(await voteAs(deps, _id, `Visitor ${n}`, voter));
    await deps.voteCounts.flush();
  });
  expect(new Set(outcomes)).toEqual(new Set(['counted', 'held']));
  for (const operation of operations) expectIndexed(operation);
});

test('the inbox of operators: its numbers, and held votes with their evidence, beside a thousand groups', async () => {
  const { deps } = tallyport;
  const held = await openQuarantine(deps, other.serverId, 'Unusual.', { cause: 'network', origin: 'farm' });
  for (let n = 0; n < 30; n += 1) {
    const ballot = { serverId: other.serverId, username: `Held ${n}`, tokenId: null, quarantineId: held };
    await castVote(deps, ballot);
  }
  const page = await profiled(() => heldVotes(deps));
  // The evidence of the other groups needs no server: they are of servers that do not exist.
  expect(page.map(put)).toContain('command vote_origins');
  // A player with many votes costs one step of the index.
  const regular = await deps.votes.findOne({ serverId: busy.serverId }, { sort: { seq: -1 } });
  const names = [regular?.usernameKey ?? '', 'nobody'];
  const ages = await profiled(() => namesKnownSince(deps, busy.serverId, names));
  const numbers = await profiled(() => countAttention(deps));
  const lists = await profiled(async () => {
    await listNewServers(deps, { limit: 20 });
    await openComplaints(deps, { limit: 50 });
  });
  for (const operation of [...page, ...ages, ...numbers, ...lists]) expectIndexed(operation);
});

test('a group of held votes on 300 servers among others: its pages, and decisions about it while it grows', async () => {
  const { deps } = tallyport;
  const { voteExclusions, clock } = deps;
  const now = clock.now();
  const heldId = await openQuarantine(deps, new ObjectId(), 'Unusual.', {
    cause: 'network',
    origin: 'model',
  });
  const model = await voteExclusions.findOne({ _id: heldId });
  const hold = (count: number, origin: string, at: Date) =>
    voteExclusions.insertMany(
      Array.from({ length: count }, () => ({
        ...model,
        _id: new ObjectId(),
        serverId: new ObjectId(),
        origin,
        at,
      })) as never,
    );
  await hold(300, 'large', after(now, HOUR));
  await hold(30, 'small', after(now, HOUR - MINUTE));
  await hold(20, 'large', after(now, -HOUR));
  const first = await openGroups(deps, { limit: 40 });
  expect(first.rows).toMatchObject([{ origin: 'large', servers: 320 }]);
  const pages = await profiled(async () => {
    await heldVotes(deps);
    const second = await openGroups(deps, { limit: 40, from: first.next ?? undefined });
    expect(second.rows[0]).toMatchObject({ origin: 'small', servers: 30 });
  });
  await hold(300, 'large', after(now, 2 * HOUR));
  const seen = { quarantineIds: first.rows[0]?.ids ?? [], until: after(now, HOUR) };
  const exclude = { is: 'exclude', reason: 'Bots' } as const;
  const decisions = await profiled(async () => {
    expect(await decideHeld(deps, exclude, seen, 'op@example.org')).toMatchObject({ missed: 0, left: 220 });
  });
  const counts = [...pages, ...decisions].filter(countsGroup);
  expect(counts).toHaveLength(2);
  for (const { keysExamined, docsExamined } of counts)
    expect(Math.max(keysExamined, docsExamined)).toBeLessThanOrEqual(330);
  for (const operation of [...pages, ...decisions]) if (!countsGroup(operation)) expectIndexed(operation);
});

/** A count of a group of held votes examines the quarantines that it counts. */
function countsGroup(operation: Document): boolean {
  return put(operation) === 'command vote_exclusions' && isCount(operation);
}

test('a new name with which many slugs begin', async () => {
  const { deps } = tallyport;
  const { serverId } = await addServer(deps, { name: 'Plain', address: 'p.example', port: 1_000 }, 'test');
  for (const name of ['Ser', 'Server', 'Server 7']) {
    const operations = await profiled(() => editServer(deps, new ObjectId(serverId), { name }, 'test'));
    const read = operations.filter((one) => put(one) === 'query servers' && !one.command.filter._id);
    expect(read.length).toBeGreaterThan(0);
    for (const operation of read) expectIndexed(operation, name);
  }
});

test('the top voters of a month read only its votes, each once, by their index', async () => {
  const month = new Date(
    Date.UTC(tallyport.clock.now().getUTCFullYear(), tallyport.clock.now().getUTCMonth(), 1),
  );
  const votes = { serverId: busy.serverId, votedAt: { $gte: month } };
  const cast = await tallyport.deps.votes.countDocuments(votes);
  const [operation = {}] = await profiled(() => topVoters(tallyport.deps, busy.serverId, 25));
  expect(operation.planSummary).toContain('IXSCAN { serverId: 1, votedAt: 1 }');
  expect(operation.docsExamined).toBeLessThanOrEqual(cast);
});

test.each(['current', 'previous'])('the API’s top voters of the %s month use the index', async (month) => {
  const operations = await profiled(() => tallyport.call(busy, `top-voters?month=${month}`));
  const read = operations.filter((operation) => put(operation) === 'command votes');
  expect(read.map(({ planSummary }) => planSummary)).toEqual(['IXSCAN { serverId: 1, votedAt: 1 }']);
});

test('the statistics of a server and their file read the votes of the month once', async () => {
  const { headers } = await signIn(tallyport, { role: 'operator' });
  const path = `${tallyport.url}/dashboard/servers/${String(other.serverId)}/statistics`;
  const operations = await profiled(async () => {
    for (const part of ['', '/voters.csv', '?days=90'])
      expect((await fetch(`${path}${part}`, { headers })).status, part).toBe(200);
  });
  expect(operations.filter(readsTopVoters)).toHaveLength(1);
});

test('the counters of an owner’s servers are found by server, not by month', async () => {
  const { deps } = tallyport;
  const all = await deps.servers.find({}, { projection: { _id: 1 } }).toArray();
  const ids = all.map(({ _id }) => _id).slice(0, 200);
  const operations = await profiled(() => votesByDayOfAll(deps, ids, 30));
  const [first] = operations;
  expect(first?.planSummary).toBe('IXSCAN { serverId: 1, month: 1 }');
  for (const operation of operations) expectIndexed(operation);
});

test('reviews without an answer are looked for with two queries, however many servers an owner has', async () => {
  const { deps } = tallyport;
  const [newest] = await deps.reviewLists.find({}).toArray();
  const at = newest?.entries[0]?.at ?? new Date();
  const then = { ...deps, clock: { now: () => at } };
  const lists = await deps.reviewLists.find({}).limit(60).toArray();
  let unanswered = new Map<string, number>();
  const operations = await profiled(async () => {
    unanswered = await countUnanswered(
      then,
      lists.map(({ _id }) => _id),
    );
  });
  const queries = operations.map(put).filter((one) => !one.startsWith('getmore'));
  expect(queries).toEqual(['query review_lists', 'query reviews']);
  for (const operation of operations) expectIndexed(operation);
  expect(unanswered.size).toBe(0);
});

test.each(['', 'username=Steve&'])('the API’s pages of votes (%j), and the next ones', async (filter) => {
  const first = await tallyport.call(busy, `votes?${filter}limit=2`);
  const cursor = first.body.next_cursor ?? '';
  for (const query of ['limit=2', 'limit=100', `limit=2&cursor=${cursor}`]) {
    if (query.endsWith('cursor=')) continue;
    const operations = await profiled(() => tallyport.call(busy, `votes?${filter}${query}`));
    const read = operations.filter((operation) => put(operation) === 'query votes');
    expect(read).toHaveLength(1);
    for (const operation of read) expectIndexed(operation);
  }
});

/** A thousand ranked servers with similar names. */
async function rankAlike(): Promise<void> {
  const { deps } = tallyport;
  const all = await deps.servers.find({}, { projection: { _id: 1 } }).toArray();
  const games = ['minecraft', 'rust'];
  const now = deps.clock.now();
  await deps.servers.bulkWrite(
    all.map(({ _id }, i) => {
      const set = { name: `Craft ${i}`, game: games[i % 2] ?? null, countryCode: i % 3 ? 'DE' : 'FR' };
      const online = {
        'probe.status': 'online' as const,
        'probe.checkedAt': now,
        profile: { tags: ['pvp'] },
      };
      const some = i % 4 === 1 ? online : {};
      return {
        updateOne: {
          filter: { _id },
          update: { $set: { ...set, ...some, 'current.version': `1.${i % 20}` } },
        },
      };
    }),
  );
  await recomputeRanks(deps);
}

test('the public pages, of a thousand servers with names alike: three queries a page of the ranking', async () => {
  await rankAlike();
  const { deps } = tallyport;
  const draw = ['query ranked_lists', 'query servers'];
  const page = [...draw, 'query review_lists'];
  const search = page;
  const ranked = { votesCount: 0, probedUptime: null };
  const alike = { _id: other.serverId, game: 'rust', profile: { tags: ['pvp', 'economy'] } };
  const shown = ['query servers', 'query review_lists', 'query vote_counters'];
  const list = { filters: {}, sort: 'rank' } as const;
  const twenty = (await deps.servers.find({ slug: /^server-1?\d$/ }).toArray()).map(({ _id }) => _id);
  let third: WalkedPage | null = null;
  for (let n = 0; n < 3; n += 1)
    third = await walkList(deps, list, { cursor: third?.next ?? undefined, limit: 100 });
  const PUBLIC: [name: string, queries: () => Promise<unknown>, expected: string[]][] = [
    ['the first page', () => readListPage(deps, {}, 1), page],
    ['the last page', () => readListPage(deps, {}, 50), page],
    ['a page of a game', () => readListPage(deps, { game: 'rust' }, 20), page],
    ['all filters', () => readListPage(deps, { game: 'rust', country: 'DE', version: '1.1' }, 1), page],
    ...(['players', 'newest', 'uptime'] as const).map((sort): (typeof PUBLIC)[number] => [
      `by ${sort}`,
      () => readListPage(deps, { game: 'rust', online: true }, 1, sort),
      page,
    ]),
    ['by rating', () => readListPage(deps, {}, 50, 'rating'), page],
    [
      'servers that the home page picks',
      async () =>
        readPicks(deps, {
          ...(await readListingSummary(deps)),
          picks: { rising: [], newcomers: [other.serverId] },
        }),
      ['query listing_summary', 'query servers', 'query review_lists'],
    ],
    [
      'the ranks of a week ago',
      () => pickServers(deps, { ids: [other.serverId], votes: [1], players: [1], newest: [0] }),
      ['query rank_snapshots'],
    ],
    ['newcomers of a game', () => readNewcomers(deps, { game: 'rust' }, 3), page],
    ['nothing that passes', () => readListPage(deps, { game: 'gone' }, 1), ['query ranked_lists']],
    ['what all names have', () => searchListing(deps, 'craft'), search],
    ['one of the thousand', () => searchListing(deps, 'crafy 777'), search],
    [
      'a host',
      () => searchListing(deps, 'play.example.org'),
      ['command servers', 'query servers', 'query review_lists'],
    ],
    ['a misspelt host', () => searchListing(deps, 'play.exmple.org'), [...search, 'command servers']],
    ['an address that nobody has', () => searchListing(deps, '127.0.1.1:25565'), ['command servers']],
    ['a random server', () => randomSlug(deps, { game: 'rust' }), draw],
    ['the server one rank above', () => serverAbove(deps, { rankPosition: 900, ranked }), page],
    ['similar servers', () => similarServers(deps, alike, 6), page],
    ['what no name has', () => searchListing(deps, 'zzzz'), ['query ranked_lists']],
    [
      'a file of the site map',
      () => addressesOf(deps, 'rust', { skip: 0, limit: 1_000 }),
      ['query ranked_lists', 'query servers'],
    ],
    ['what there is to filter by', () => readListingSummary(deps), ['query listing_summary']],
    ...[{ limit: 100 }, { limit: 100, cursor: third?.next ?? '' }, { limit: 1 }].map(
      ({ limit, cursor }): (typeof PUBLIC)[number] => [
        `the API’s page of ${limit} ${cursor ? 'after 300' : ''}`,
        () => walkList(deps, list, { cursor, limit }),
        [...page, 'query vote_counters'],
      ],
    ),
    [
      'the API’s page of a tag and a country',
      () =>
        walkList(deps, { ...list, filters: { tag: 'pvp', country: 'FR' } }, { cursor: undefined, limit: 50 }),
      [...page, 'query vote_counters'],
    ],
    ['servers of a search of the API', () => readPublicServers(deps, twenty), shown],
    ...[other.serverId.toHexString(), other.slug, 'formerly-7', 'nobody'].map(
      (name, i): (typeof PUBLIC)[number] => [
        `the API’s server ${name}`,
        () => readPublicServer(deps, name),
        i < 3 ? shown : ['query servers'],
      ],
    ),
    [
      'servers of the API that are asked for together',
      () =>
        Promise.all(
          twenty.flatMap((id, i) =>
            [id.toHexString(), `server-${i}`].map((name) => readPublicServer(deps, name)),
          ),
        ),
      shown,
    ],
  ];
  for (const [name, queries, expected] of PUBLIC) {
    const operations = await profiled(queries);
    // Some run at the same time.
    const kinds = [...new Set(operations.map(put))].filter((one) => !one.startsWith('getmore'));
    expect(kinds.toSorted(), name).toEqual(expected.toSorted());
    for (const operation of operations.filter((one) => !isTermSeek(one))) expectIndexed(operation, name);
  }
  // All hidden servers have the position after the last.
  const some = await deps.servers.find({ rankPosition: { $gt: 900 } }).toArray();
  const hidden = { _id: { $in: some.map(({ _id }) => _id) } };
  await deps.servers.updateMany(hidden, { $set: { hiddenAt: new Date() } });
  await recomputeRanks(deps);
  const server = await deps.servers.findOne({ rankPosition: 900 });
  if (!server) throw new Error('not ranked');
  for (const operation of await profiled(() => explainRank(deps, server)))
    expectIndexed(operation, 'explained');
  await deps.servers.updateMany(hidden, { $set: { hiddenAt: null } });
});

/** Something of every kind that operators look at, a little of it among 1,000 servers. */
async function giveOperatorsWork(): Promise<void> {
  const { deps, clock } = tallyport;
  const now = clock.now();
  const some = await deps.servers.find({}).sort({ _id: -1 }).limit(5).toArray();
  for (const { _id: serverId } of some) {
    const pause = { at: now, by: 'tallyport' as const, code: 'bad-signature' as const };
    await deps.listeners.updateOne({ serverId }, { $set: { pause } });
    await deps.servers.updateOne(
      { _id: serverId },
      {
        $set: {
          hiddenAt: now,
          playersDiffer: { at: now, reported: 90, probed: 1 },
          playersJumped: { at: now, players: 900, usual: 4 },
          unusualVotes: { at: now, tokenId: busy.tokenId, votes: 90, players: 1 },
          ranked: { votesCount: 90, probedUptime: null, rankVotes: 50, waiting: 40 },
        },
      },
    );
    for (let i = 0; i < 10; i++) await writeReview(deps, { serverId, username: `player ${i}`, rating: 4 });
  }
  const open = { failures: 3, tests: 1, openSince: now, code: 'silent' as const };
  await deps.listeners.updateOne({ serverId: busy.serverId }, { $set: { breaker: open } });
  const failed = { 'delivery.state': 'failed' as const, votedAt: now };
  const recent = await deps.votes.find({ serverId: busy.serverId }).limit(5).toArray();
  for (const { _id } of recent)
    await deps.votes.updateOne({ serverId: busy.serverId, _id }, { $set: failed });
  for (let i = 0; i < 300; i++) {
    const serverId = i % 3 ? other.serverId : busy.serverId;
    const by = i % 2 ? 'one@example.org' : 'cli';
    const action = i % 5 === 1 ? 'server.hide' : 'server.unhide';
    await recordAudit(deps, { by, action, serverId, details: {} });
  }
}

/** Pages with filters, whose queries differ from those of the pages in the table of the admin area. */
const FILTERED = [
  '/reviews?state=approved',
  '/servers?list=hidden',
  '/servers?list=removed',
  '/servers?q=server-1',
  '/servers?q=busy',
  '/servers?q=one%40example.org',
  '/votes',
  '/votes?server=:serverId&player=steve',
  '/votes?server=:serverId&since=2020-01-01T00:00',
  '/votes/exclude-player?server=:serverId&player=nobody',
  '/votes?server=busy&player=steve',
  '/audit?by=cli',
  '/audit?action=server.hide',
  '/audit?server=:serverId',
];

/** Pages that read more than they show. */
const READ_MORE = [
  // The votes of one player on all servers: the next test limits them.
  '/operator/votes/exclude-player',
  // They sum votes and samples by day, or look among all tokens of the server. Tests above measure most queries alone.
  '/dashboard/servers/:serverId',
  '/dashboard/servers/:serverId/statistics',
  '/dashboard/servers/:serverId/listener',
];

test('the pages of the admin area, and those of a server', async () => {
  await giveOperatorsWork();
  const { deps } = tallyport;
  const { headers, userId } = await signIn(tallyport, { role: 'operator' });
  const ofBusy = { serverId: busy.serverId };
  const url = 'https://example.org/events';
  const { subscription } = await addSubscription(
    deps,
    busy.serverId,
    { type: 'http', name: 'Bot', url, kinds: ['vote.counted'] },
    'test',
  );
  const ids = {
    serverId: String(busy.serverId),
    userId: String(userId),
    listenerId: String((await deps.listeners.findOne(ofBusy))?._id),
    voteId: String((await deps.votes.findOne(ofBusy))?._id),
    subscriptionId: String(subscription._id),
  };
  const page = async (path: string) => {
    const answer = await fetch(`${tallyport.url}${path}`, { headers, redirect: 'manual' });
    expect(answer.status, path).toBe(200);
  };
  const listed = [ADMIN_AREA, SERVER_AREA].flatMap(({ path: above, pages }: Area) =>
    pages
      .filter(({ path, kind }) => kind === undefined && !READ_MORE.includes(above + path))
      .map(({ path, example = '' }) => `${above}${path}${example}`),
  );
  // What the first page counts, it counts once in ten seconds for all requests.
  for (const path of ['/operator', '/operator?tab=listeners']) {
    const first = await profiled(() => page(path));
    expect(first.filter((one) => put(one).endsWith('listeners')).length, path).toBeGreaterThan(1);
    for (const operation of first.filter((one) => !isCount(one))) expectIndexed(operation, path);
  }
  for (const route of [...listed, ...FILTERED.map((path) => `/operator${path}`)]) {
    const path = withIds(route, ids);
    const operations = await profiled(() => page(path));
    expect(operations.length, path).toBeGreaterThan(1);
    const others = operations.filter((one) => !isCount(one) && !isTermSeek(one) && !readsMigrations(one));
    for (const operation of others) expectIndexed(operation, path);
  }
});

test('the votes of one player on all servers are counted with one seek for each server', async () => {
  const { deps } = tallyport;
  const range = { username: 'steve', serverId: null, since: null, until: new Date() };
  const servers = await deps.servers.countDocuments();
  let votes = 0;
  const operations = await profiled(async () => {
    for (const one of await countPlayerVotes(deps, range)) votes += one.votes;
  });
  const counts = operations.filter((one) => put(one) === 'command votes');
  expect(counts.length).toBe(Math.ceil(servers / 500));
  for (const { planSummary } of counts) expect(planSummary).not.toContain('COLLSCAN');
  const keys = counts.reduce((sum, { keysExamined }) => sum + keysExamined, 0);
  expect(keys).toBeLessThanOrEqual(3 * (servers + votes) + 10);
});

test('the public pages of a server, for anonymous and for signed-in users', async () => {
  const { headers, userId } = await signIn(tallyport);
  const review = { username: 'Ada', rating: 4, content: 'Kind people.' };
  await saveOwnReview(tallyport.deps, { serverId: other.serverId, userId }, review);
  const send = async (path: string, init: RequestInit, status: number) => {
    const answer = await fetch(`${tallyport.url}/servers/${path}`, { redirect: 'manual', ...init });
    expect(answer.status, path).toBe(status);
  };
  const form = (body: Record<string, string>): RequestInit => ({
    method: 'POST',
    headers: { ...headers, origin: 'http://localhost:3000' },
    body: new URLSearchParams(body),
  });
  const requests: [string, RequestInit, number][] = [
    ['other', {}, 200],
    ['other?players=30d', {}, 200],
    ['other?players=all', {}, 200],
    ['other?reviews=20', {}, 200],
    ['other/banner.svg', {}, 200],
    ['other/banner.png', {}, 200],
    ['other/badge.svg', {}, 200],
    ['formerly-7', {}, 301],
    ['nobody', {}, 404],
    ['other', { headers }, 200],
    ['other/vote', { headers }, 200],
    ['other/vote?username=Steve', {}, 200],
    ['other/review', form({ ...review, rating: '2' }), 303],
    ['other/review/delete', form({}), 303],
  ];
  for (const [path, init, status] of requests) {
    const operations = await profiled(() => send(path, init, status));
    expect(operations.length, path).toBeGreaterThan(0);
    for (const operation of operations.filter((one) => !readsHours(one) && !readsTopVoters(one)))
      expectIndexed(operation, path);
  }
});

/** Reminders that are due, and those of each kind that are not. */
const REMINDERS = { due: 30, others: 1_500 };
/** The servers that each of them is about. */
const REMINDED_OF = 12;

/**
 * At noon, so that no reminder is silent. Each player's votes are for the same servers; one player has many earlier
 * votes. `seq`: of these votes.
 */
async function reminded(seq: number) {
  const clock = stoppedClock(new Date(`${dayOf(after(tallyport.clock.now(), 2 * DAY))}T12:00:00Z`));
  const mails = { PUBLIC_URL: 'https://listing.example', SMTP_URL: 'smtp://127.0.0.1:1' };
  const deps = { ...tallyport.deps, clock, config: { ...tallyport.deps.config, ...mails } };
  const others = await deps.servers
    .find({ slug: /^server-\d\d?$/ })
    .limit(REMINDED_OF - 1)
    .toArray();
  const voteFor = async (username: string) => {
    const votes = [busy.serverId, ...others.map(({ _id }) => _id)].map((serverId) =>
      storedVote(serverId, username, clock.now(), { seq }),
    );
    await deps.votes.insertMany(votes);
    return votes.map(({ _id }) => _id);
  };
  const votes: UUID[][] = [];
  for (let n = 0; n < REMINDERS.due; n += 1) votes.push(await voteFor(n ? `reminded ${seq} ${n}` : 'steve'));
  return { deps, clock, votes };
}

test('reminders of browsers: some that are due, beside thousands that are not', async () => {
  const service = await startFakePushService();
  const { deps, clock, votes } = await reminded(2_000);
  const publicKey = await readPushKey(deps);
  const keep = ({ endpoint, p256dh, auth }: FakeSubscription, ofBrowser: UUID[]) => {
    const browser = { timeZone: 'UTC', language: 'en', userId: null };
    const input = { endpoint, p256dh, auth, publicKey, ...browser, votes: ofBrowser };
    return keepReminder(deps, input, '203.0.113.7');
  };
  const subscriptions = votes.map(() => service.subscribe());
  for (const [n, subscription] of subscriptions.slice(2).entries())
    await keep(subscription, votes[n + 2] ?? []);
  const kept = await deps.reminders.findOne({});
  if (!kept) throw new Error('not kept');
  const notDue = [after(clock.now(), 2 * DAY), null].flatMap((dueAt) =>
    Array.from({ length: REMINDERS.others }, (_, n) => ({ ...kept, _id: `${n} ${dueAt}`, dueAt })),
  );
  await deps.reminders.insertMany(notDue);
  // The first is new, the second is set anew.
  const [first, second] = subscriptions;
  if (!first || !second) throw new Error('no subscription');
  await keep(second, votes[1] ?? []);
  const keeping = await profiled(async () => {
    for (const [n, one] of [first, second].entries())
      expect(await keep(one, votes[n] ?? [])).toMatchObject({ kind: 'kept' });
  });
  clock.move(DAY);
  const sendReminders = createReminders(deps);
  const sending = await profiled(async () => {
    const ends = await sendReminders({ signal: new AbortController().signal, lookup: toThisMachine });
    expect(ends).toEqual(votes.map(() => 'sent'));
  });
  expect(sending.filter((one) => put(one) === 'query reminders')).toHaveLength(2);
  const owner = await deps.users.findOne({ name: 'User 7' });
  if (!owner) throw new Error('no user');
  const { endpoint } = service.subscribe();
  await deps.reminders.insertOne({ ...kept, _id: endpoint, userId: owner._id });
  const exporting = await profiled(async () => {
    let text = '';
    for await (const part of exportAccount(deps, owner)) text += part;
    expect(text).toContain(`"push_service":"${kept.host}"`);
  });
  const deleting = await profiled(() => deps.reminders.deleteMany(ofUser(owner._id)));
  for (const operation of [...keeping, ...sending, ...exporting, ...deleting]) expectIndexed(operation);
});

test('reminders of users by mail: some that are due, beside a thousand that are not', async () => {
  const { deps, clock, votes } = await reminded(2_001);
  const users = await deps.users.find({ name: /^User / }).toArray();
  const due = users.slice(0, votes.length);
  for (const { _id } of due) await startMailReminder(deps, _id);
  const some = await deps.mailReminders.findOne({});
  if (!some) throw new Error('not started');
  await deps.mailReminders.insertMany(
    users.slice(votes.length).map(({ _id }, n) => {
      return { ...some, _id, dueAt: n % 2 ? after(clock.now(), 2 * DAY) : null, stopToken: `token ${n}` };
    }),
  );
  const note = async (n: number) => {
    for (const vote of votes[n] ?? []) await noteVoteOf(deps, due[n]?._id ?? new ObjectId(), vote);
  };
  for (let n = 1; n < due.length; n += 1) await note(n);
  const noting = await profiled(() => note(0));
  clock.move(DAY);
  const sending = await profiled(async () => {
    const ends = await sendMailReminders(deps, new AbortController().signal);
    expect(ends).toEqual(due.map(() => 'sent'));
  });
  const stopping = await profiled(() => stopMailReminder(deps, { stopToken: 'token 500' }));
  expect(stopping.map(put)).toEqual(['remove mail_reminders']);
  for (const operation of [...noting, ...sending, ...stopping]) expectIndexed(operation);
});

/** `BACKLOG=100000` prints what each operation examines. */
const BACKLOG = Number(process.env.BACKLOG ?? 2_000);
type Kind = 'pushed' | 'fetched' | 'claimed';

/** A server with `BACKLOG` votes whose deliveries are `delivery`, and with a listener of its own. */
async function addBacklog(
  kind: Kind,
  delivery: Delivery,
  pause: Listener['pause'] = null,
): Promise<TestServer> {
  const { deps, clock } = tallyport;
  const server = await tallyport.addServer({ name: `Backlog ${kind}` });
  const { serverId } = server;
  if (kind === 'fetched') await setFetchListener(deps, serverId, { serviceName: 'Tallyport' }, 'test');
  else {
    const settings = {
      protocol: 'votifier-v2',
      host: '192.0.2.1',
      port: 8_192,
      secret: 'x'.repeat(26),
    } as const;
    await setListener(deps, serverId, { ...settings, serviceName: 'Tallyport' }, 'test');
  }
  if (kind === 'claimed') await setRewards(deps, serverId, 'claims', 'test');
  await deps.listeners.updateOne({ serverId }, { $set: { pause } });
  const votedAt = after(clock.now(), -HOUR);
  for (let from = 0; from < BACKLOG; from += 10_000) {
    const some = Array.from({ length: Math.min(10_000, BACKLOG - from) }, (_, n) => {
      return storedVote(serverId, `waits ${from + n}`, votedAt, { delivery });
    });
    await deps.votes.insertMany(some, { ordered: false });
  }
  return server;
}

const attempt = (at: Date): Attempt => {
  const sent = { protocol: 'votifier-v2', revision: 1, test: false, worker: 'w' } as const;
  return { id: new UUID(), at, ...sent, code: 'no-answer', class: 'ambiguous' };
};
const SHAPES: [shape: string, delivery: (now: Date) => Delivery, pause?: Listener['pause']][] = [
  ['not due', (now) => waitingDelivery(now, { nextAt: after(now, HOUR) })],
  ['due', (now) => waitingDelivery(after(now, -HOUR))],
  [
    'paused',
    (now) => waitingDelivery(after(now, -HOUR)),
    { at: new Date(0), by: 'tallyport', code: 'bad-signature' },
  ],
  ['unconfirmed', (now) => deliveryIn('unconfirmed', { attempts: [attempt(now)], ambiguousEnds: 3 })],
  [
    'taken',
    (now) => ({
      ...deliveryIn('sending', { attempts: [attempt(now)], leaseUntil: after(new Date(), HOUR) }),
      queuedAt: now,
      expiresAt: after(now, DAY),
    }),
  ],
];

/** What the product does again and again for a server, by the kind of its listener. */
const REPEATED: Record<Kind, [name: string, work: (server: TestServer) => Promise<unknown>][]> = {
  pushed: [
    ['a take of a drain', (server) => takeSome(server)],
    ['a sweep', () => sweepDueWork(tallyport.deps)],
    ['a look of kept leases', (server) => lookFor(server)],
  ],
  fetched: [
    ['a take', ({ serverId }) => fetchSome(serverId)],
    ['a sweep', () => sweepDueWork(tallyport.deps)],
    ['a look of waiting takes', (server) => lookFor(server)],
  ],
  claimed: [
    ['a claim', (server) => claimFor(server)],
    ['check-vote', (server) => tallyport.call(server, 'check-vote?username=Nobody')],
    ['a sweep', () => sweepDueWork(tallyport.deps)],
  ],
};

async function takeSome({ serverId }: TestServer): Promise<void> {
  const listener = await tallyport.deps.listeners.findOne({ serverId });
  if (!listener) throw new Error('no listener');
  const leased = { ...listener, lease: { owner: 'test', until: after(new Date(), HOUR) } };
  await takeVotes(tallyport.deps, leased, { test: false }, { most: 16, atOnce: 4 });
}

async function fetchSome(serverId: ObjectId): Promise<void> {
  const listener = await fetchingListener(tallyport.deps, serverId);
  if (!listener) throw new Error('no listener');
  await takeDeliveries(tallyport.deps, listener, {
    most: 20,
    leaseMs: MINUTE,
    requestId: String(new ObjectId()),
  });
}

async function claimFor(server: TestServer): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ username: 'Nobody' });
  await tallyport.call(server, 'votes/claim', { method: 'POST', headers, body });
}

async function lookFor({ serverId }: TestServer): Promise<void> {
  const { deps } = tallyport;
  const now = deps.clock.now();
  await serversWith(deps.votes, [serverId], dueBy(now), DUE_VOTES);
}

test.each(
  SHAPES.flatMap(([shape, delivery, pause]) =>
    (['pushed', 'fetched', 'claimed'] as const).map((kind) => [shape, kind, delivery, pause] as const),
  ),
)('a backlog that is %s costs nothing beyond what is taken: %s', async (shape, kind, delivery, pause) => {
  const server = await addBacklog(kind, delivery(tallyport.clock.now()), pause ?? null);
  const examined: Record<string, object> = {};
  for (const [name, work] of REPEATED[kind]) {
    const operations = await profiled(() => work(server));
    expect(operations.length, name).toBeGreaterThan(0);
    const sum = (key: string) => operations.reduce((all, one) => all + (one[key] ?? 0), 0);
    examined[`${shape}, ${kind}: ${name}`] = {
      operations: operations.length,
      keys: sum('keysExamined'),
      documents: sum('docsExamined'),
      'slowest ms': Math.max(...operations.map(({ millis }) => millis)),
    };
    for (const operation of operations) expectIndexed(operation, `${shape}, ${kind}: ${name}`);
  }
  if (process.env.BACKLOG) console.table(examined);
  await tallyport.deps.votes.deleteMany({ serverId: server.serverId });
  await tallyport.deps.listeners.deleteOne({ serverId: server.serverId });
});

/** The hours of a chart are sums of all their samples, so they have a separate limit. */
function readsHours({ command }: Document): boolean {
  return command.pipeline?.some((stage: Document) => stage.$unionWith !== undefined) ?? false;
}

/** The top voters of a month are sums of all its votes, read at most once a minute. A test above limits them. */
function readsTopVoters({ command }: Document): boolean {
  return command.pipeline?.some((stage: Document) => stage.$group?._id === '$usernameKey') ?? false;
}

/** A count examines one key for each counted document, so each has a separate limit. */
function isCount({ command }: Document): boolean {
  const last = command.pipeline?.at(-1);
  return (
    last?.$group?.n !== undefined && command.pipeline.some((stage: Document) => stage.$limit !== undefined)
  );
}

/** The page “System” shows every migration, so no index could help. */
function readsMigrations(operation: Document): boolean {
  return put(operation) === 'query migrations';
}

/** A search seeks the list of each of its terms, at most 300; most terms have none. */
function isTermSeek(operation: Document): boolean {
  return put(operation) === 'query ranked_lists' && operation.command.filter?._id?.$in?.length <= 300;
}

function expectIndexed(operation: Document, by = ''): void {
  const { keysExamined = 0, docsExamined = 0, nreturned, nMatched, ninserted } = operation;
  const affected = nreturned ?? nMatched ?? ninserted ?? 0;
  const figures = JSON.stringify({ keysExamined, docsExamined, affected, plan: operation.planSummary });
  const what = `${by} ${put(operation)} ${figures}`;
  expect(operation.planSummary ?? '', what).not.toContain('COLLSCAN');
  // The page of held votes sums the days of each server that it shows.
  const most = put(operation) === 'command daily_stats' ? 31 * affected + 10 : 3 * affected + 10;
  expect(Math.max(keysExamined, docsExamined), what).toBeLessThanOrEqual(most);
}
