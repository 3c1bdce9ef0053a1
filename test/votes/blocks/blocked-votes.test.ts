import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { resendVote } from '../../../src/delivery/resend-vote.ts';
import { DAY, HOUR, MINUTE } from '../../../src/platform/clock.ts';
import { DeadlineError } from '../../../src/platform/deadline.ts';
import type { BlockList } from '../../../src/votes/blocks/block-list.ts';
import { addBlock, liftBlock } from '../../../src/votes/blocks/change-blocks.ts';
import { CastDeadline } from '../../../src/votes/cast/cast-deadline.ts';
import { type AcceptedFromApi, castVoteFromApi } from '../../../src/votes/cast/cast-from-api.ts';
import { checkVote } from '../../../src/votes/cast/cooldown.ts';
import { checkClaim, claimVote } from '../../../src/votes/claims/claim-vote.ts';
import { finishExclusion } from '../../../src/votes/exclusions/finish-exclusion.ts';
import { requestInclusion } from '../../../src/votes/exclusions/request-exclusion.ts';
import { repairOpenCounters } from '../../../src/votes/repair-counters.ts';
import { voteFigures } from '../../../src/votes/vote-figures.ts';
import { addOwnedServer } from '../../support/owned-server.ts';
import { listServersAt } from '../../support/servers.ts';
import { signIn } from '../../support/sign-in.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';
import { postVoteForm, proofOfWorkFor, voteOnPage } from '../../support/vote-form.ts';
import { openWebApp, sendForm } from '../../support/web-app.ts';

const REASON = 'the internal reason';

describe('a vote on the page', () => {
  async function page() {
    const web = await openWebApp();
    const owner = await signIn(web);
    const serverId = await addOwnedServer(web.deps, owner.userId);
    const { slug = '' } = (await web.deps.servers.findOne({ _id: serverId })) ?? {};
    return { web, slug, serverId };
  }

  it('is refused for a blocked name and from a blocked network with the same words', async () => {
    const { web, slug, serverId } = await page();
    const { deps } = web;
    // Proven before the block.
    const proof = await proofOfWorkFor(web, slug, 'Steve');
    const named = await addBlock(deps, { kind: 'name', value: 'STEVE', reason: REASON }, 'cli');
    await addBlock(deps, { kind: 'network', value: '198.51.100.0/24', reason: REASON }, 'cli');
    await addBlock(deps, { kind: 'network', value: '2001:db8::/32', reason: REASON }, 'cli');
    const answers = [
      await postVoteForm(web, `${slug}/vote`, { username: 'Steve', proof }),
      await postVoteForm(web, `${slug}/vote/challenge`, { username: 'steve' }),
      await postVoteForm(web, `${slug}/vote/challenge`, { username: 'Alex' }, { address: '198.51.100.7' }),
      await postVoteForm(web, `${slug}/vote`, { username: 'Alex' }, { address: '::ffff:198.51.100.7' }),
      await postVoteForm(web, `${slug}/vote`, { username: 'Alex' }, { address: '2001:db8::7' }),
      await postVoteForm(
        web,
        `${slug}/vote`,
        { username: 'Steve' },
        { headers: (await signIn(web)).headers },
      ),
    ];
    expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    expect(answers[0]?.statusCode).toBe(403);
    expect(answers[0]?.json()).toEqual({
      error: expect.stringContaining('This vote is not accepted.'),
      code: 'vote-not-accepted',
    });
    expect(await deps.votes.countDocuments({ serverId })).toBe(0);
    await deps.blockList.flush();
    expect(await deps.blocks.findOne({ _id: named._id })).toMatchObject({ hits: 3 });

    expect((await voteOnPage(web, slug, 'Alex')).statusCode).toBe(303);
    await liftBlock(deps, named._id, 'cli');
    expect((await postVoteForm(web, `${slug}/vote`, { username: 'Steve', proof })).statusCode).toBe(303);
  });

  it('shows a browser the form without a reason', async () => {
    const { web, slug } = await page();
    await addBlock(web.deps, { kind: 'name', value: 'Steve', reason: REASON }, 'cli');
    const { body, statusCode } = await sendForm(web, `/servers/${slug}/vote`, { username: 'Steve' });
    expect(statusCode).toBe(403);
    expect(body).toContain('This vote is not accepted.');
    expect(body).not.toContain(REASON);
    expect(body).not.toMatch(/block/i);
  });
});

describe('a vote of a blocked name with the API', () => {
  /** The clock stands still: nothing waits for votes under way. */
  const SETTLED = { settledMs: -MINUTE };

  async function blocked() {
    const clock = stoppedClock(new Date('2026-11-21T10:00:00Z'));
    const deps = { ...(await testDeps()), clock };
    const [serverId = new ObjectId()] = await listServersAt(deps, [1], 'a-token-of-a-test');
    const block = await addBlock(deps, { kind: 'name', value: 'Steve', reason: REASON }, 'cli');
    const submit = (username: string, key?: string) =>
      castVoteFromApi(deps, { serverId, username, tokenId: new ObjectId(), key }, new CastDeadline(5_000));
    return { deps, clock, serverId, block, submit };
  }

  const answerOf = (end: unknown) => JSON.parse((end as AcceptedFromApi).body) as Record<string, unknown>;

  it('gets the answer of the contract, and is neither counted, delivered nor claimable', async () => {
    const { deps, serverId, submit } = await blocked();
    await submit('Alex');
    const first = await submit('STEVE', 'a key');
    expect(answerOf(first)).toEqual({
      success: true,
      monthly_votes: 2,
      next_vote_at: '2026-11-22T10:00:00.000Z',
    });
    expect(await submit('STEVE', 'a key')).toMatchObject({
      body: (first as AcceptedFromApi).body,
      replayed: true,
    });
    expect(await submit('steve')).toMatchObject({ kind: 'refused' });
    expect(await checkVote(deps, serverId, 'Steve')).toMatchObject({ hasVoted: true });

    await deps.voteCounts.flush();
    expect(await voteFigures(deps, serverId)).toMatchObject({ monthlyVotes: 1, allTimeVotes: 1 });
    const vote = await deps.votes.findOne({ serverId, usernameKey: 'steve' });
    expect(vote).toMatchObject({ delivery: { state: 'none' }, excludedAt: expect.any(Date) });
    if (!vote) throw new Error('not stored');
    expect(await resendVote(deps, vote._id, 'someone')).toEqual({ kind: 'quarantined' });
    await deps.listeners.updateOne({ serverId }, { $set: { rewards: 'claims' } });
    const player = { serverId, username: 'Steve' };
    expect((await checkClaim(deps, player)).kind).toBe('none');
    expect((await claimVote(deps, player, { tokenId: new ObjectId() })).kind).toBe('none');
  });

  it('stays out of the counts after a repair, which finds no drift', async () => {
    const { deps, clock, serverId, submit } = await blocked();
    await submit('Steve');
    await deps.voteCounts.flush();
    clock.move(5 * MINUTE);
    expect((await repairOpenCounters(deps)).drifts).toEqual([]);
    expect(await voteFigures(deps, serverId)).toMatchObject({ monthlyVotes: 0 });
  });

  it('is counted and delivered when an operator releases it, and later ones are held back again', async () => {
    const { deps, clock, serverId, block, submit } = await blocked();
    await submit('Steve');
    clock.move(DAY);
    await submit('Steve');
    await deps.voteCounts.flush();
    const [held, ...others] = await deps.voteExclusions.find({ serverId }).toArray();
    expect(others).toEqual([]);
    expect(held).toMatchObject({ state: 'excluded', blockId: block._id, username: 'Steve' });
    clock.move(HOUR);
    await requestInclusion(deps, held?._id ?? new ObjectId(), 'someone');
    await finishExclusion(deps, held?._id ?? new ObjectId(), SETTLED);
    expect(await voteFigures(deps, serverId)).toMatchObject({ allTimeVotes: 2 });
    expect(await deps.votes.countDocuments({ serverId, 'delivery.state': 'waiting' })).toBe(2);

    clock.move(DAY);
    await submit('Steve');
    await deps.voteCounts.flush();
    expect(await voteFigures(deps, serverId)).toMatchObject({ allTimeVotes: 2 });
    await liftBlock(deps, block._id, 'cli');
    clock.move(DAY);
    await submit('Steve');
    await deps.voteCounts.flush();
    expect(await voteFigures(deps, serverId)).toMatchObject({ allTimeVotes: 3 });
  });

  it('is given up in time while MongoDB gives no answer about blocks or exclusions', async () => {
    const { deps, serverId } = await blocked();
    const silent = () => new Promise<never>(() => undefined);
    const submission = { serverId, username: 'Steve', tokenId: new ObjectId(), key: undefined };
    const noList = { ...deps, blockList: { findName: silent } as unknown as BlockList };
    const noExclusions = {
      ...deps,
      voteExclusions: { findOne: silent } as unknown as typeof deps.voteExclusions,
    };
    for (const deps of [noList, noExclusions])
      await expect(castVoteFromApi(deps, submission, new CastDeadline(200))).rejects.toThrow(DeadlineError);
    expect(await deps.votes.countDocuments({ serverId })).toBe(0);
  });

  it('of several at once opens one exclusion for its server', async () => {
    const { deps, serverId, submit } = await blocked();
    const all = await Promise.all(Array.from({ length: 8 }, () => submit('Steve')));
    expect(all.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(await deps.voteExclusions.countDocuments({ serverId })).toBe(1);
  });
});
