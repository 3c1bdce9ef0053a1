import type { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { setListener } from '../../../src/delivery/change-listener.ts';
import { after, DAY, HOUR } from '../../../src/platform/clock.ts';
import { newVoteId, type Refused } from '../../../src/votes/cast/cast-vote.ts';
import { KNOWN_AFTER, type Vote } from '../../../src/votes/vote.ts';
import { castVote } from '../../support/casting.ts';
import { deliveryIn, waitingDelivery } from '../../support/votes.ts';
import { accept, ballot, counted, refuse, votesOf, votingForAll } from '../voting.ts';

/** One player, as far as the rule goes: full width, a ligature's long s, zero-width and soft characters. */
const SPELLINGS = ['Steve', 'STEVE', 'steve', 'Ｓteve', 'ſteve', 'St\u200beve', 'Ste\u00adve', 'S\ufe0fTEVE'];

const voting = await votingForAll();

describe('one vote per player and server in any 24 hours', () => {
  test('of 200 casts at once, in several spellings, on two processes, exactly one is accepted', async () => {
    const { serverId } = ballot('');
    const ends = await Promise.all(
      Array.from({ length: 200 }, (_, i) => {
        const username = SPELLINGS[i % SPELLINGS.length] ?? '';
        return castVote(i % 2 ? voting.one : voting.other, ballot(username, serverId));
      }),
    );

    const accepted = ends.filter((end) => end.kind === 'accepted');
    expect(accepted).toHaveLength(1);
    const vote = accepted[0]?.vote as Vote;
    const refused = ends.filter((end): end is Refused => end.kind === 'refused');
    expect(refused).toHaveLength(199);
    for (const end of refused) {
      expect(end.vote._id.toString()).toBe(vote._id.toString());
      expect(end.vote.username).toBe(vote.username);
      expect(end.nextVoteAt).toEqual(after(vote.votedAt, DAY));
    }
    expect(await votesOf(voting.one, serverId)).toHaveLength(1);
    expect(await counted(voting.one, serverId)).toBe(1);
  });

  test('another player, and the same player on another server, are not refused', async () => {
    const request = ballot('Steve');
    await accept(voting.one, request);
    await accept(voting.one, ballot('Steven', request.serverId));
    await accept(voting.other, ballot('Steve'));
    await refuse(voting.other, request);
  });

  test('a vote counts its player’s votes on the server’s page, excluded ones too', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const api = ballot('Steve');
    const page = { ...api, tokenId: null };
    const cast = async (request: typeof api | typeof page) => {
      const { vote } = await accept(deps, request);
      clock.move(DAY);
      return vote;
    };
    expect(await cast(api)).not.toHaveProperty('pageVotes');
    expect(await cast(page)).toMatchObject({ pageVotes: 1 });
    expect(await cast(api)).toMatchObject({ pageVotes: 1 });
    const second = await cast(page);
    expect(second).toMatchObject({ seq: 4, pageVotes: 2 });
    expect(await cast({ ...api, serverId: ballot('').serverId })).not.toHaveProperty('pageVotes');
    // A vote of 0.1.0 has neither number nor source: its player is known.
    const { serverId } = api;
    await deps.votes.updateOne({ serverId, _id: second._id }, { $unset: { pageVotes: 1, source: 1 } });
    expect(await cast(api)).toMatchObject({ seq: 5, pageVotes: KNOWN_AFTER });
  });

  test('the next vote is refused one millisecond before next_vote_at and accepted exactly then', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const request = ballot('Steve');
    const first = await accept(deps, request);

    clock.move(DAY - 1);
    const refused = await refuse(deps, { ...request, username: 'STEVE' });
    expect(refused.vote).toEqual(first.vote);
    expect(refused.nextVoteAt).toEqual(new Date('2026-05-05T10:00:00.000Z'));

    clock.move(1);
    const second = await accept(deps, request);
    expect(second.vote.votedAt).toEqual(refused.nextVoteAt);
    expect((await votesOf(deps, request.serverId)).map((vote) => vote.seq)).toEqual([1, 2]);
  });

  test('of 40 casts at once that are all due exactly at next_vote_at, one is accepted', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const request = ballot('Steve');
    await accept(deps, request);
    clock.move(DAY);
    const other = { ...voting.other, clock };
    const ends = await Promise.all(
      Array.from({ length: 40 }, (_, i) => castVote(i % 2 ? deps : other, request)),
    );
    expect(ends.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(await votesOf(deps, request.serverId)).toHaveLength(2);
  });

  test('a clock that goes back lets nobody vote again', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const request = ballot('Steve');
    await accept(deps, request);
    clock.move(-3 * DAY);
    await refuse(deps, request);
  });
});

describe('an accepted vote', () => {
  test('is stored trimmed and otherwise as typed, with the moment it was compared at', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.123Z');
    const request = ballot('Ｓt\u200beve ß 🧑‍🚀');
    const { vote } = await accept(deps, request);
    const [stored] = await votesOf(deps, request.serverId);
    expect(stored).toEqual(vote);
    expect(stored).toMatchObject({
      serverId: request.serverId,
      tokenId: request.tokenId,
      username: 'Ｓt\u200beve ß 🧑‍🚀',
      usernameKey: 'steve ss 🧑🚀',
      votedAt: clock.now(),
      seq: 1,
    });
  });

  test('has a version 7 UUID whose time is the time of the vote', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.123Z');
    const { vote } = await accept(deps, ballot('Steve'));
    const id = vote._id.toString();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(clock.now().getTime());
  });

  test('waits for its listener, for 72 hours, and wakes a worker', async () => {
    const { deps, clock } = voting.at('2026-05-04T10:00:00.000Z');
    const request = ballot('Steve');
    const listener = await setListener(
      deps,
      request.serverId,
      {
        protocol: 'votifier-v2',
        host: 'votes.example.org',
        port: 8_192,
        secret: 'a1b2c3d4e5f6g7h8i9j0k1l2m3',
        serviceName: 'Tallyport',
      },
      'test',
    );
    const queue = deps.queues['test-listeners'];
    for (const job of await queue.getJobs()) await job.remove();

    const { vote } = await accept(deps, request);
    expect(vote.delivery).toEqual(
      waitingDelivery(clock.now(), { dueBy: 'cast', expiresAt: after(clock.now(), 72 * HOUR) }),
    );
    const ids = { serverId: request.serverId.toHexString(), listenerId: listener._id.toHexString() };
    await expect.poll(async () => (await queue.getJobs()).map((job) => job.data)).toEqual([ids]);
  });

  test('has nothing to wait for where the server has no listener', async () => {
    const { vote } = await accept(voting.one, ballot('Steve'));
    expect(vote.delivery).toEqual(deliveryIn('none'));
  });
});

describe('the vote’s own id', () => {
  test('cast again under the same id, it is the same vote, counted once', async () => {
    const request = ballot('Steve');
    const id = newVoteId(new Date());
    const first = await castVote(voting.one, request, id);
    const again = await castVote(voting.other, request, id);
    expect(again).toEqual(first);
    expect(again).toMatchObject({ kind: 'accepted', monthlyVotes: 1 });
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });

  test('of 30 casts at once under one id all are accepted with one vote, counted once', async () => {
    const request = ballot('Steve');
    const id = newVoteId(new Date());
    const ends = await Promise.all(
      Array.from({ length: 30 }, (_, i) => castVote(i % 2 ? voting.one : voting.other, request, id)),
    );
    for (const end of ends) {
      expect(end.kind).toBe('accepted');
      expect(end.vote._id.equals(id)).toBe(true);
    }
    expect(await votesOf(voting.one, request.serverId)).toHaveLength(1);
    expect(await counted(voting.one, request.serverId)).toBe(1);
  });
});

describe('imported votes, which have negative numbers', () => {
  async function importVote(votedAt: string, seq: number): Promise<ObjectId> {
    const { deps } = voting.at(votedAt);
    const request = ballot('Steve');
    const { vote } = await accept(deps, ballot('Steve'));
    await deps.votes.insertOne({
      ...vote,
      _id: newVoteId(vote.votedAt),
      serverId: request.serverId,
      seq,
      tokenId: null,
    });
    return request.serverId;
  }

  test('under 24 hours old they block, then the live votes count from 1', async () => {
    const serverId = await importVote('2026-05-04T10:00:00.000Z', -1);
    const { deps, clock } = voting.at('2026-05-05T09:59:59.999Z');
    const refused = await refuse(deps, ballot('steve', serverId));
    expect(refused.vote.seq).toBe(-1);
    clock.move(1);
    expect((await accept(deps, ballot('steve', serverId))).vote.seq).toBe(1);
    clock.move(DAY);
    expect((await accept(deps, ballot('steve', serverId))).vote.seq).toBe(2);
  });

  test('of 20 casts at once after an import one is accepted', async () => {
    const serverId = await importVote('2026-05-04T10:00:00.000Z', -7);
    const ends = await Promise.all(
      Array.from({ length: 20 }, () => castVote(voting.one, ballot('STEVE', serverId))),
    );
    expect(ends.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect((await votesOf(voting.one, serverId)).map(({ seq }) => seq)).toEqual([-7, 1]);
  });
});
