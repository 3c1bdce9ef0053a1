import { type Document, ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { lateVotes } from '../../src/notifications/notify-of-listeners.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;
beforeAll(async () => {
  deps = await testDeps();
});

const NOW = new Date();

// The worker asks these every minute, over all servers.
test.each([
  [
    'servers that are offline',
    () => deps.servers.find({ 'probe.offlineSince': { $gt: NOW, $lte: NOW }, removedAt: null }),
    'probe.offlineSince_1',
  ],
  [
    'approved reviews',
    () => deps.reviews.find({ state: 'approved', moderatedAt: { $gt: NOW }, toldAt: { $exists: false } }),
    'state_1_moderatedAt_-1__id_-1',
  ],
  [
    'new exclusions',
    () => deps.voteExclusions.find({ at: { $gt: NOW }, state: 'excluded', votes: { $gt: 0 } }),
    'at_-1',
  ],
  ['undone exclusions', () => deps.voteExclusions.find({ told: 'excluded', state: 'included' }), 'state_1'],
  [
    'mails about a server in the last hour',
    () => deps.mails.find({ serverId: new ObjectId(), createdAt: { $gt: NOW } }),
    'serverId_1_createdAt_1',
  ],
  [
    'outages that somebody was told of',
    () => deps.sentNotifications.find({ $or: [{ since: { $gt: NOW } }, { 'events.since': { $gt: NOW } }] }),
    'events.since_1',
  ],
  [
    'servers that somebody was told are offline',
    () => deps.serverNotices.find({ $or: [{ since: { $gt: NOW } }, { eventSince: { $gt: NOW } }] }),
    'eventSince_1',
  ],
  ['held mails', () => deps.mails.find({ heldAt: { $gt: new Date(0) } }), 'heldAt_1'],
] as const)('%s are found by an index', async (_, query, index) => {
  const { queryPlanner } = (await query().explain('queryPlanner')) as Document;
  expect(JSON.stringify(queryPlanner)).toContain(`"indexName":"${index}"`);
  expect(JSON.stringify(queryPlanner.winningPlan)).not.toContain('COLLSCAN');
});

test('servers whose fetched votes are about to expire cost one step of an index each', async () => {
  const serverId = { $in: [new ObjectId(), new ObjectId()] };
  const plan = await deps.votes
    .aggregate([{ $match: { serverId, ...lateVotes(NOW) } }, { $group: { _id: '$serverId' } }], {
      hint: { serverId: 1, 'delivery.state': 1, votedAt: 1 },
    })
    .explain('queryPlanner');
  expect(JSON.stringify(plan)).toContain('"stage":"DISTINCT_SCAN"');
});
