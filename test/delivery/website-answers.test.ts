import { describe, expect, it } from 'vitest';
import { showListener } from '../../src/delivery/change-listener.ts';
import { diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { createVoteSender } from '../../src/delivery/send-vote.ts';
import { statusText } from '../../src/delivery/timeline/status-text.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';

const deliveryBench = deliveryBenchesOfFile();

/** A server whose votes are posted to a website, which has taken the vote of “First”. */
async function siteBench(maxSendings?: number) {
  const bench = await deliveryBench();
  const { deps, serverId, cast, clock, drain, vote } = bench;
  const site = await startFakeHttpListener();
  const url = `http://127.0.0.1:${site.port}/votes`;
  const set = (most?: number) =>
    setHttpListener(deps, serverId, { url, serviceName: 'x', maxSendings: most }, 'test');
  await set(maxSendings);
  await cast('First');
  await drain();
  site.received.length = 0;
  const answer = (status: number, headers: Record<string, string> = {}) => {
    site.answer = (response) => void response.writeHead(status, headers).end('no');
  };
  /** Drains, and again an hour later, so that a vote that is retried was sent twice. */
  const drainTwice = async () => {
    await drain();
    clock.move(HOUR);
    await drain();
  };
  const status = async (cast: Parameters<typeof vote>[0]) => {
    const { status } = await voteTimeline(deps, await vote(cast), null, clock.now());
    return statusText(status, { on: () => 'TIME', next: () => 'TIME' }, false);
  };
  return { ...bench, site, set, answer, drainTwice, status };
}

describe('A website that answers a vote with a server error', () => {
  it.each([408, 500, 503, 504])('%i gets the vote no second time if it may be sent once', async (status) => {
    const { site, answer, cast, drainTwice, vote, ...bench } = await siteBench(1);
    answer(status);
    const steve = await cast('Steve');
    await drainTwice();
    expect(site.received).toHaveLength(1);
    const { delivery } = await vote(steve);
    expect(delivery).toMatchObject({ state: 'unconfirmed', attemptCount: 1 });
    expect(delivery).not.toHaveProperty('queuedAt');
    expect(await bench.status(steve)).toBe(
      'Sent, but the website answered with an error of its server (HTTP 5xx or 408). It may have arrived. It is not sent again automatically. It can be sent again until TIME.',
    );

    await resendVote(bench.deps, steve._id, 'test');
    await drainTwice();
    expect(site.received).toHaveLength(2);
  });

  it.each([
    [429, {}],
    [503, { 'retry-after': '5' }],
  ])('%i %o refuses the vote, which is sent again even if it may be sent once', async (status, headers) => {
    const { site, answer, cast, drainTwice, vote } = await siteBench(1);
    answer(status, headers);
    const steve = await cast('Steve');
    await drainTwice();
    expect(site.received).toHaveLength(2);
    const { delivery } = await vote(steve);
    expect(delivery).toMatchObject({ state: 'waiting', attempts: [{ code: 'http-limited' }, {}] });
  });

  it('gets the vote by the schedule if it may be sent twice', async () => {
    const { site, answer, cast, clock, drain, vote } = await siteBench(2);
    answer(504);
    const steve = await cast('Steve');
    for (let n = 0; n < 4; n += 1) {
      await drain();
      clock.move(HOUR);
    }
    expect(site.received).toHaveLength(4);
    expect((await vote(steve)).delivery.state).toBe('waiting');
  });

  it('does not get a waiting vote once more after its owner allows only one sending', async () => {
    const { deps, serverId, site, answer, cast, clock, drain, vote, ...bench } = await siteBench();
    answer(504);
    const [steve, alex] = [await cast('Steve'), await cast('Alex')];
    await drain();
    await bench.set(1);
    expect((await vote(steve)).delivery.state).toBe('unconfirmed');

    // As if the process had died right after it stored the settings.
    await bench.set(3);
    await resendVote(deps, alex._id, 'test');
    await drain();
    await deps.listeners.updateOne({ serverId }, { $set: { maxSendings: 1 }, $inc: { revision: 1 } });
    clock.move(HOUR);
    await drain();
    expect((await vote(alex)).delivery).toMatchObject({ state: 'unconfirmed', attemptCount: 2 });
    expect(site.received).toHaveLength(3);
  });
});

describe('A website that has taken votes', () => {
  /** `siteBench` whose website refuses the players “Nobody 1”, “Nobody 2” and so on. */
  async function pickyBench(status: number) {
    const bench = await siteBench();
    const { deps, serverId, site, cast, vote } = bench;
    const refusals = { status };
    site.challenges = 0;
    site.answer = (response, { body }) => {
      const isRefused = body.includes('Nobody');
      response.writeHead(isRefused ? refusals.status : 204, { location: '/elsewhere' });
      response.end(isRefused ? 'no such player' : '');
    };
    const castAll = async (names: string[]) => {
      const votes = [];
      for (const name of names) votes.push(await cast(name));
      return votes;
    };
    const states = async (votes: Awaited<ReturnType<typeof castAll>>) => {
      const found = await Promise.all(votes.map(vote));
      return found.map(({ delivery }) => delivery.state);
    };
    const listener = () => showListener(deps, serverId);
    return { ...bench, refusals, castAll, states, listener };
  }

  it('but never repeated a challenge, as with older versions, is not paused by one refused player', async () => {
    const { deps, serverId, site, castAll, drain, states, listener } = await pickyBench(404);
    // An older version stored only that it took votes, and since then where it is.
    await deps.listeners.updateOne({ serverId }, { $set: { 'proven.0.by': 'greeting' } });
    site.answerChallenge = (response) => void response.writeHead(204).end();
    const votes = await castAll(['Nobody 1', 'Steve']);
    await drain();
    expect(await states(votes)).toEqual(['failed', 'delivered']);
    expect([site.challenges, await listener()]).toMatchObject([0, { pause: null }]);
    // If it takes none any more, five refusals in a row pause it: nothing else could show that all would be refused.
    await castAll([1, 2, 3, 4, 5, 6].map((n) => `Nobody ${n}0`));
    await drain();
    expect(await listener()).toMatchObject({ pause: { code: 'repeated-vote-faults' } });
  });

  it.each([302, 401, 501])('and answers %i, which is never about one player, is paused', async (status) => {
    const { castAll, drain, states, listener } = await pickyBench(status);
    const votes = await castAll(['Nobody 1']);
    await drain();
    expect(await states(votes)).toEqual(['waiting']);
    expect((await listener())?.state).toBe('paused');
  });

  it.each([
    400, 403, 404, 405, 410, 422,
  ])('and refuses single players with %i, but repeats a challenge, gets all other votes', async (status) => {
    const { site, castAll, drain, states, listener, vote } = await pickyBench(status);
    const votes = await castAll(['Nobody 1', 'Nobody 2', 'Nobody 3', 'Steve', 'Alex']);
    await drain();
    expect(await states(votes)).toEqual(['failed', 'failed', 'failed', 'delivered', 'delivered']);
    expect(await listener()).toMatchObject({ state: 'active', pause: null });
    expect(site.challenges).toBe(1);
    const [refused] = votes;
    if (!refused) throw new Error('no vote');
    expect((await vote(refused)).delivery.attempts).toMatchObject([
      { code: 'vote-refused', class: 'vote-only', words: `HTTP ${status} no such player` },
    ]);
  });

  it.each([
    [404, 'http-not-found'],
    [422, 'http-votes-refused'],
  ])('and refuses a vote with %i and a new challenge too is paused, and the votes wait', async (status, code) => {
    const { site, castAll, drain, states, listener } = await pickyBench(status);
    site.answerChallenge = (response) => void response.writeHead(404).end('gone');
    const votes = await castAll(['Nobody 1', 'Steve']);
    await drain();
    expect((await states(votes))[0]).toBe('waiting');
    expect(await listener()).toMatchObject({
      state: 'paused',
      pause: {
        code,
        words: `HTTP ${status} no such player`,
        detail: 'A new challenge failed too: HTTP 404 gone',
      },
    });
  });

  it('and refuses a vote while it cannot answer a challenge is not paused; the vote waits', async () => {
    const { site, castAll, drain, states, listener } = await pickyBench(404);
    site.answerChallenge = (response) => void response.writeHead(503).end('busy');
    const votes = await castAll(['Nobody 1', 'Steve']);
    await drain();
    expect(await states(votes)).toEqual(['waiting', 'delivered']);
    expect(await listener()).toMatchObject({ state: 'active' });
  });

  it('and refuses the player of a test vote is said to refuse that vote, not to lack the URL', async () => {
    const { deps, serverId, site } = await pickyBench(404);
    site.answer = (response) => void response.writeHead(404).end('no such player');
    const withSend = { ...deps, send: createVoteSender(deps.config) };
    expect(await diagnoseListener(withSend, serverId)).toMatchObject({ fault: 'vote-refused' });
  });
});
