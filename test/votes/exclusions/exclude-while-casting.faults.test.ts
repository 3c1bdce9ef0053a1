import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { after, MINUTE, SECOND } from '../../../src/platform/clock.ts';
import { voteFigures } from '../../../src/votes/vote-figures.ts';
import { EVENTUALLY } from '../../support/eventually.ts';
import { excludeVotes, includeVotes } from '../../support/exclusions.ts';
import { startApp } from '../../support/start-app.ts';
import { startWeb } from '../../support/web-process.ts';

/** Each process casts at most so often: the exclusion has to meet votes, not to win a race for the processor. */
const BETWEEN_CASTS_MS = 10;

describe('while votes are being cast', () => {
  it('each vote is counted or excluded, and none is both', async () => {
    const tallyport = await startApp();
    onTestFinished(() => tallyport.close());
    const { deps } = tallyport;
    const server = await tallyport.addServer();
    const { serverId } = server;
    const webs = await Promise.all([startWeb(tallyport.env), startWeb(tallyport.env)]);
    const enough = new AbortController();
    onTestFinished(() => enough.abort());
    let number = 0;
    const casts = webs.map(async ({ url }) => {
      while (!enough.signal.aborted) {
        number += 1;
        const { status } = await tallyport.vote(server, `Player${number}`, {}, url);
        // A busy machine makes a process refuse some; a vote that was accepted is counted or excluded.
        expect([200, 503]).toContain(status);
        await pause(BETWEEN_CASTS_MS);
      }
    });
    await expect.poll(() => deps.votes.countDocuments({ serverId })).toBeGreaterThan(20);
    const until = deps.clock.now();
    const request = { serverId, since: after(until, -MINUTE), until, tokenId: null, reason: 'A flood' };
    const exclusion = await excludeVotes(deps, request, 'someone', { settledMs: 2 * SECOND });
    enough.abort();
    await Promise.all(casts);

    const left = await deps.votes.countDocuments({ serverId, votedAt: { $gte: until } });
    const excluded = await deps.votes.countDocuments({ serverId, votedAt: { $lt: until } });
    expect({ left, votes: exclusion.votes }).toEqual({ left: expect.any(Number), votes: excluded });
    expect(left).toBeGreaterThan(20);
    const counted = async () => (await voteFigures(deps, serverId)).allTimeVotes;
    await vi.waitFor(async () => expect(await counted()).toBe(left), EVENTUALLY);

    await includeVotes(deps, exclusion._id, 'someone', { settledMs: 2 * SECOND });
    expect(await counted()).toBe(left + excluded);
  }, 90_000);
});
