import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { after, HOUR } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { pageOfVotes, type VotesCursor, type VotesWanted } from '../../src/votes/read-votes.ts';
import { castVote } from '../support/casting.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

const START = new Date('2026-11-21T10:00:00Z');
const NAMES = ['At10', 'At11', 'At12', 'AlsoAt12', 'At13'];

let deps: AppDeps & { clock: StoppedClock };
const serverId = new ObjectId();

beforeAll(async () => {
  deps = { ...(await testDeps()), clock: stoppedClock(START) };
  for (const username of NAMES) {
    if (username !== 'At10' && username !== 'AlsoAt12') deps.clock.move(HOUR);
    await castVote(deps, { serverId, username, tokenId: null });
  }
});

async function namesOf(wanted: VotesWanted, cursor?: VotesCursor): Promise<string[]> {
  const { votes } = await pageOfVotes(deps, serverId, wanted, cursor);
  return votes.map(({ username }) => username);
}

const at = (hours: number) => after(START, hours * HOUR);

test('pages by time show each vote once, and votes of the same time may be on two pages', async () => {
  const first = await pageOfVotes(deps, serverId, { limit: 2 });
  expect(first.votes.map(({ username }) => username)[0]).toBe('At13');
  expect(first.next).toEqual({ at: at(2), seen: 1 });
  const rest = await namesOf({}, first.next ?? undefined);
  expect([...first.votes.map(({ username }) => username), ...rest].toSorted()).toEqual(NAMES.toSorted());
});

test('a cursor does not extend the time range', async () => {
  const cursor = { at: at(2), seen: 1 };
  expect(await namesOf({ until: at(2) }, cursor)).toEqual(['At11', 'At10']);
  expect(await namesOf({ until: at(1) }, { at: at(3), seen: 1 })).toEqual(['At10']);
  expect(await namesOf({ until: at(3), since: at(1) }, cursor)).toHaveLength(2);
});
