import { describe, expect, it } from 'vitest';
import { resumeListener, showListener } from '../../src/delivery/change-listener.ts';
import { diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { newChallenge, repeats } from '../../src/delivery/http/http-message.ts';
import { createVoteSender } from '../../src/delivery/send-vote.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import type { OutcomeClass } from '../../src/listeners/outcomes/outcome-definition.ts';
import type { OutcomeCode } from '../../src/listeners/outcomes.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { arrivalOf } from '../../src/votes/arrival.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';
import { type HttpListener, startFakeHttpListener } from '../support/fake-http-listener.ts';

import { useFastClock } from '../support/fast-clock.ts';

const deliveryBench = deliveryBenchesOfFile();

/** A server whose votes will be posted to a website that has not been challenged yet. */
async function challengeBench(env: Record<string, string> = {}) {
  const bench = await deliveryBench(env);
  const { deps, serverId } = bench;
  const site = await startFakeHttpListener();
  const url = `http://127.0.0.1:${site.port}/votes`;
  const setUrl = (to: string) => setHttpListener(deps, serverId, { url: to, serviceName: 'x' }, 'test');
  await setUrl(url);
  const state = async () => (await showListener(deps, serverId))?.state;
  const change = (set: object) => deps.listeners.updateOne({ serverId }, { $set: set });
  return { ...bench, site, url, setUrl, state, change };
}

describe('An answer repeats a challenge', () => {
  const sent = newChallenge('0123456789abcdef01234567');
  const { challenge, body } = sent;

  it.each([
    ['as JSON', JSON.stringify({ challenge })],
    ['as JSON beside more', JSON.stringify({ ok: true, challenge })],
    ['as the text alone', `${challenge}\n`],
  ])('%s', (_, said) => expect(repeats(said, sent)).toBe(true));

  it.each([
    ['where the whole message comes back', body],
    ['where it stands inside another value', JSON.stringify({ json: JSON.parse(body), data: body })],
    ['where another one comes back', JSON.stringify({ challenge: newChallenge('x').challenge })],
    ['where it is no text', JSON.stringify({ challenge: [challenge] })],
    ['where it stands in a page', `<html>${challenge}</html>`],
    ['where nothing comes back', ''],
    ['where the JSON cannot be read', `{"challenge":"${challenge}"`],
  ])('not %s', (_, said) => expect(repeats(said, sent)).toBe(false));

  it('and each challenge is different', () => {
    expect(newChallenge('a').challenge).not.toBe(newChallenge('a').challenge);
    expect(challenge).toMatch(/^[\w-]{43}$/);
  });
});

const status =
  (code: number): HttpListener['answerChallenge'] =>
  (response) =>
    void response.writeHead(code).end('no');

const informing: HttpListener['answerChallenge'] = (response, challenge) => {
  for (let n = 0; n < 100; n += 1) response.writeContinue();
  response.end(challenge);
};

describe('An HTTP listener', () => {
  it('is unverified until it repeats the challenge that it gets before its first vote', async () => {
    const { cast, drain, site, state, vote } = await challengeBench();
    expect(await state()).toBe('unverified');
    const votes = [await cast('Alex'), await cast('Steve'), await cast('Kai')];
    await drain();
    expect([site.challenges, site.received.length]).toEqual([1, 3]);
    expect(await state()).toBe('active');
    for (const one of votes) {
      expect((await vote(one)).delivery).toMatchObject({ state: 'delivered', attemptCount: 1 });
    }
  });

  it('that accepts everything and does not repeat the challenge is paused, gets no vote, and gets votes when it is corrected', async () => {
    const { deps, serverId, cast, drain, site, vote } = await challengeBench();
    site.answerChallenge = (response) => response.end('{"status":"thanks"}');
    const waiting = await cast('Alex');
    await drain();
    expect(await showListener(deps, serverId)).toMatchObject({
      state: 'paused',
      waiting: 1,
      // Nobody knows whose website this is, so its answer is not shown.
      pause: { by: 'tallyport', code: 'http-unverified', words: 'HTTP 200' },
    });
    expect(site.received).toEqual([]);
    site.answerChallenge = (response, challenge) => response.end(challenge);
    await resumeListener(deps, serverId, 'test');
    await drain();
    expect((await vote(waiting)).delivery.state).toBe('delivered');
  });

  it('that redirects the challenge is paused, and the target of the redirect is not shown', async () => {
    const { deps, serverId, cast, drain, site, vote } = await challengeBench();
    site.answerChallenge = (response) => {
      response.writeHead(302, { location: 'https://inside.example.org/' }).end();
    };
    const waiting = await cast('Alex');
    await drain();
    const listener = await showListener(deps, serverId);
    expect(listener?.pause).toMatchObject({ code: 'http-redirected', words: 'HTTP 302' });
    expect(listener?.pause).not.toHaveProperty('detail');
    const [attempt] = (await vote(waiting)).delivery.attempts;
    expect(attempt).toMatchObject({ code: 'http-redirected', words: 'HTTP 302' });
    expect(attempt).not.toHaveProperty('detail');
  });

  it.each([
    ['nothing', () => undefined, 'too-slow', 'transient'],
    ['a close', (response) => response.socket?.end(), 'closed-before-written', 'transient'],
    ['404', status(404), 'http-not-found', 'configuration'],
    ['405', status(405), 'http-method-refused', 'configuration'],
    ['422', status(422), 'http-challenge-refused', 'configuration'],
    ['503', status(503), 'http-not-ready', 'transient'],
    ['100 informational responses', informing, 'not-http', 'configuration'],
  ] satisfies [
    string,
    HttpListener['answerChallenge'],
    OutcomeCode,
    OutcomeClass,
  ][])('that answers a challenge with %s ends the attempt and leaves the vote waiting', async (_, answer, code, of) => {
    const { deps, serverId, cast, drain, site, vote } = await challengeBench();
    useFastClock();
    site.answerChallenge = answer;
    const waiting = await cast('Alex');
    await drain();
    const { delivery } = await vote(waiting);
    expect(delivery).toMatchObject({ state: 'waiting', ambiguousEnds: 0 });
    expect(delivery.attempts.at(-1)).toMatchObject({ code, class: of });
    expect(site.received).toEqual([]);
    // No vote was sent, so the outcome never counts as one without an answer.
    const { pause } = (await showListener(deps, serverId)) ?? {};
    expect(pause?.code).toBe(of === 'configuration' ? code : undefined);
  });

  it('that cannot take a challenge now gets an outcome that says so, and the vote has certainly not arrived', async () => {
    const { deps, cast, drain, site, vote, clock } = await challengeBench();
    site.answerChallenge = status(503);
    const waiting = await cast('Alex');
    for (let n = 0; n < 2; n += 1) {
      await drain();
      clock.move(HOUR);
    }
    const stored = await vote(waiting);
    expect(stored.delivery.attempts).toHaveLength(2);
    const { events, mayHaveArrivedTwice } = await voteTimeline(deps, stored, null, clock.now());
    expect(mayHaveArrivedTwice).toBe(false);
    expect(arrivalOf(stored.delivery)).toBe('surely-not');
    const attempt = events.find(({ kind }) => kind === 'attempt');
    expect(attempt).toMatchObject({ end: { cause: expect.stringContaining('it has not taken the vote') } });
    expect(JSON.stringify(events)).not.toContain('may have arrived');

    // After the website has repeated the challenge, the same answer is an answer to a vote.
    site.answerChallenge = (response, challenge) => response.end(challenge);
    site.answer = (response) => void response.writeHead(503).end('no');
    await drain();
    const posted = await vote(waiting);
    expect(posted.delivery.attempts.at(-1)).toMatchObject({ code: 'http-unavailable', reached: 'written' });
    expect(arrivalOf(posted.delivery)).toBe('may-have-arrived');
  });

  it('is verified by a test, without any vote', async () => {
    const { deps, serverId, site, state } = await challengeBench();
    const withSend = { ...deps, send: createVoteSender(deps.config) };
    expect(await diagnoseListener(withSend, serverId)).toMatchObject({ outcome: 'delivered', fault: null });
    expect(await state()).toBe('active');
    site.answerChallenge = (response) => response.end('{}');
    expect(await diagnoseListener(withSend, serverId)).toMatchObject({
      outcome: 'configuration',
      fault: 'http-unverified',
      cause: expect.stringContaining('did not repeat it'),
    });
    expect(await state()).toBe('active');
  });

  it('is challenged again at another URL, and not if the same URL is stored again', async () => {
    const { cast, drain, site, url, setUrl, state } = await challengeBench();
    await cast('Alex');
    await drain();
    await setUrl(url);
    expect(await state()).toBe('active');
    await setUrl(`${url}/other`);
    expect(await state()).toBe('unverified');
    await cast('Steve');
    await drain();
    expect([site.challenges, site.received.length]).toEqual([2, 2]);
  });

  it('is challenged again if its host resolves to another address, and after a week', async () => {
    const { cast, drain, site, change, clock } = await challengeBench();
    await cast('Alex');
    await drain();
    await change({ 'proven.0.address': '192.0.2.7' });
    await cast('Steve');
    await drain();
    expect(site.challenges).toBe(2);
    clock.move(8 * DAY);
    await cast('Kai');
    await drain();
    expect([site.challenges, site.received.length]).toEqual([3, 3]);
  });

  it('that took votes before challenges existed needs none until its URL changes', async () => {
    const { deps, serverId, cast, drain, site, url, setUrl, clock, state } = await challengeBench({
      DESTINATION_LIMIT: '1',
      ACCOUNT_LIMIT: '1',
    });
    clock.stop(new Date());
    const before = { lastDeliveredAt: after(clock.now(), -30 * DAY) };
    await deps.listeners.updateOne({ serverId }, { $set: before, $unset: { proven: 1 } });
    site.answerChallenge = (response) => response.end();
    expect(await state()).toBe('active');
    for (let n = 0; n < 8; n += 1) await cast(`Player${n}`);
    await drain();
    // Six times the allowance of a destination that has never greeted.
    expect([site.challenges, site.received.length]).toEqual([0, 6]);
    await setUrl(`${url}/other`);
    expect(await state()).toBe('unverified');
  });

  it('from before challenges needs none only at the address where it next takes a vote', async () => {
    const { deps, serverId, cast, drain, site, change, clock, vote } = await challengeBench();
    const lastDeliveredAt = after(clock.now(), -30 * DAY);
    await deps.listeners.updateOne({ serverId }, { $set: { lastDeliveredAt }, $unset: { proven: 1 } });
    site.answerChallenge = (response) => response.end();
    await cast('Alex');
    await drain();
    const listener = () => deps.listeners.findOne({ serverId });
    const proof = { address: '127.0.0.1', at: expect.any(Date), by: 'greeting' };
    expect((await listener())?.proven).toEqual([proof]);
    await cast('Steve');
    await drain();
    expect([site.challenges, site.received.length]).toEqual([0, 2]);

    // Its host now resolves to somebody else's website.
    await change({ 'proven.0.address': '192.0.2.7' });
    const waiting = await cast('Kai');
    await drain();
    expect([site.challenges, site.received.length]).toEqual([1, 2]);
    expect((await vote(waiting)).delivery.state).toBe('waiting');
    expect((await listener())?.pause).toMatchObject({ code: 'http-unverified' });
  });
});
