import { randomUUID } from 'node:crypto';
import { ObjectId, UUID } from 'mongodb';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { addFetchingServer, type FetchingServer } from '../support/fetching.ts';
import { setUses } from '../support/limits.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let web: TestDeps;
let server: FetchingServer;
beforeAll(async () => {
  web = await startApp();
  atTheEnd(() => web.close());
});

describe('the limits of takes', () => {
  const ownedBy = async (ownerId: ObjectId) => {
    const one = await addFetchingServer(web);
    await web.deps.servers.updateOne({ _id: one.serverId }, { $set: { ownerId } });
    web.deps.authentications.forget(() => true);
    return one;
  };
  const POLICY = '"server";q=600;w=60, "account";q=3000;w=60';

  test('600 a minute for a server, counted over all processes, with what is left in each answer', async () => {
    const one = await ownedBy(new ObjectId());
    // As another process has counted them.
    await setUses(web.deps, 'takes:server', one.serverId, 598);
    const allowed = await one.call();
    expect([allowed.status, allowed.headers.get('ratelimit-policy')]).toEqual([200, POLICY]);
    expect(allowed.headers.get('ratelimit')).toMatch(/^"server";r=1;t=\d+, "account";r=2999;t=\d+$/);
    expect((await one.call()).status).toBe(200);
    const refused = await one.call();
    expect([refused.status, refused.body.code]).toEqual([429, 'too-many-requests']);
    expect(refused.body.error).toMatch(/^Too many takes of this server: the next one is allowed at /);
    expect(refused.headers.get('ratelimit')).toMatch(/^"server";r=0;t=\d+, "account";r=2997;t=\d+$/);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Further ones are refused from memory.
    const count = () => web.deps.rateLimits.findOne({ _id: /^takes:account/ }, { sort: { resetAt: -1 } });
    const before = await count();
    expect((await one.call()).headers.get('ratelimit')).toMatch(/^"server";r=0;t=\d+$/);
    expect(await count()).toEqual(before);
  });

  test('3,000 a minute for all servers of an account; a server without an owner has only its own', async () => {
    const ownerId = new ObjectId();
    const [one, other] = [await ownedBy(ownerId), await ownedBy(ownerId)];
    await setUses(web.deps, 'takes:account', ownerId, 2_999);
    expect((await one.call()).status).toBe(200);
    for (const server of [one, other]) {
      const refused = await server.call();
      expect(refused.status).toBe(429);
      expect(refused.body.error).toContain('all servers of this account');
    }
    expect((await (await ownedBy(new ObjectId())).call()).status).toBe(200);
    const alone = await addFetchingServer(web);
    expect((await alone.call()).headers.get('ratelimit')).toMatch(/^"server";r=599;t=\d+$/);
  });
});

test('a call with a wrong body counts as a take', async () => {
  const one = await addFetchingServer(web);
  const wrong = await one.call({ max: 0 });
  expect([wrong.status, wrong.headers.get('ratelimit')]).toEqual([
    400,
    expect.stringMatching(/^"server";r=599;/),
  ]);
});

test('of ten calls that arrive together, four wait', async () => {
  const one = await addFetchingServer(web);
  const left = new AbortController();
  const calls = Array.from({ length: 10 }, () =>
    one.call({ wait_seconds: 30 }, { signal: left.signal }).catch(() => undefined),
  );
  const refused: { status: number }[] = [];
  for (const call of calls) void call.then((answer) => answer && refused.push(answer));
  await vi.waitFor(() => expect(refused).toHaveLength(6), EVENTUALLY);
  expect(refused.map(({ status }) => status)).toEqual(Array(6).fill(429));
  left.abort();
  await Promise.all(calls);
});

describe('taking', () => {
  test('parallel takers never get the same vote, and together they get all', async () => {
    server = await addFetchingServer(web);
    await Promise.all(Array.from({ length: 30 }, (_, n) => server.cast(`player${n}`)));
    const takes = await Promise.all(Array.from({ length: 6 }, () => server.take({ max: 10 })));
    const ids = takes.flat().map(({ vote_id }) => vote_id);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await server.take({ max: 100 });
    expect(ids.length + rest.length).toBe(30);
  });

  test('a repeated request_id returns the same unsettled votes without a new sending', async () => {
    server = await addFetchingServer(web);
    for (const player of ['a', 'b', 'c']) await server.cast(player);
    const [one, ...others] = await server.take({ max: 2, request_id: 'r1' });
    if (!one) throw new Error('no vote');
    await server.settle([one], 'delivered');
    const again = await server.take({ max: 2, request_id: 'r1' });
    expect(again.map(({ vote_id, lease, sending }) => [vote_id, lease, sending])).toEqual(
      others.map(({ vote_id, lease, sending }) => [vote_id, lease, sending]),
    );
    expect((await server.vote(others[0]?.vote_id ?? '')).delivery.attemptCount).toBe(1);
    await server.settle(again, 'delivered');
    // Nothing of it is open any more: it takes what is due now.
    expect((await server.take({ max: 2, request_id: 'r1' })).map(({ username }) => username)).toEqual(['c']);
  });

  test('a repeated request_id returns at most `max` votes, the oldest', async () => {
    server = await addFetchingServer(web);
    for (const player of ['a', 'b', 'c']) await server.cast(player);
    const [a, b] = await server.take({ max: 3, request_id: 'r1' });
    const again = await server.take({ max: 2, request_id: 'r1' });
    expect(again.map(({ lease, vote_id }) => [lease, vote_id])).toEqual(
      [a, b].map((one) => [one?.lease, one?.vote_id]),
    );
  });

  test('a paused listener hands out nothing new and says so; a repeated request_id returns its votes', async () => {
    server = await addFetchingServer(web);
    await server.cast('Alex');
    const taken = await server.take({ request_id: 'r1' });
    await server.cast('Steve');
    await web.deps.listeners.updateOne(
      { serverId: server.serverId },
      { $set: { pause: { at: new Date(), by: 'owner' } } },
    );
    expect((await server.call()).body).toEqual({ deliveries: [], paused: true });
    const { body } = await server.call({ request_id: 'r1' });
    expect(body).toMatchObject({ deliveries: [{ username: 'Alex', lease: taken[0]?.lease }], paused: true });
    await server.settle(taken, 'delivered');
    expect((await server.call({ request_id: 'r1' })).body).toEqual({ deliveries: [], paused: true });
    expect((await server.done([{ vote_id: randomUUID(), lease: 'x', outcome: 'retry' }])).body.paused).toBe(
      true,
    );
  });

  test('a vote that may be sent only once is taken alone, and so is the last sending of a vote', async () => {
    server = await addFetchingServer(web);
    const { serverId } = server;
    const [, b] = [await server.cast('a'), await server.cast('b'), await server.cast('c')];
    await web.deps.votes.updateOne({ serverId, _id: b._id }, { $set: { 'delivery.ambiguousEnds': 2 } });
    const names = async () => (await server.take()).map(({ username }) => username);
    expect([await names(), await names()]).toEqual([['a'], ['b', 'c']]);
    await web.deps.listeners.updateOne({ serverId }, { $set: { maxSendings: 1 } });
    for (const player of ['d', 'e']) await server.cast(player);
    expect([await names(), await names(), await names()]).toEqual([['d'], ['e'], []]);
  });

  test('a resend by hand is told from a retry', async () => {
    const one = await addFetchingServer(web);
    const vote = await one.cast('Steve');
    const seen = async () => {
      const [taken] = await one.take();
      return [taken?.sending, taken?.resends, taken] as const;
    };
    const [, , first] = await seen();
    await one.done([{ vote_id: first?.vote_id, lease: first?.lease, outcome: 'unknown' }]);
    await web.deps.votes.updateOne({ _id: vote._id }, { $set: { 'delivery.nextAt': new Date(0) } });
    const [sending, resends, retry] = await seen();
    expect([first?.resends, sending, resends]).toEqual([0, 2, 0]);
    await one.done([{ vote_id: retry?.vote_id, lease: retry?.lease, outcome: 'delivered' }]);
    await resendVote(web.deps, vote._id, 'owner@example.org');
    const [again, resent, third] = await seen();
    expect([again, resent]).toEqual([3, 1]);
    // What a restore held back may have been rewarded: sending it is no wish to reward it again.
    await one.done([{ vote_id: third?.vote_id, lease: third?.lease, outcome: 'delivered' }]);
    const restored = { kind: 'restored' as const, at: new Date() };
    await web.deps.votes.updateOne({ _id: vote._id }, { $push: { 'delivery.events': restored } });
    await resendVote(web.deps, vote._id, 'owner@example.org');
    expect((await seen()).slice(0, 2)).toEqual([5, 1]);
  });

  test('a body with a field out of its bounds is refused', async () => {
    server = await addFetchingServer(web);
    for (const body of [
      { max: 0 },
      { max: 101 },
      { wait_seconds: 31 },
      { lease_seconds: 9 },
      { lease_seconds: 301 },
    ])
      expect((await server.call(body)).status, JSON.stringify(body)).toBe(400);
    for (const request_id of ['', 'a b', 'ä', 'x'.repeat(65)])
      expect((await server.call({ request_id })).status, request_id).toBe(400);
  });

  test('the owner sees when votes were last taken and by what, and no address', async () => {
    server = await addFetchingServer(web);
    await server.call({}, { headers: { 'user-agent': `relay/1.0 ${'x'.repeat(300)}\u0007`.slice(0, 250) } });
    const listener = await web.deps.batcher
      .settle(2_000)
      .then(() => web.deps.listeners.findOne({ serverId: server.serverId }));
    expect(listener?.fetched?.agent).toMatch(/^relay\/1\.0 x+$/);
    expect(listener?.fetched?.agent.length).toBe(200);
    expect(JSON.stringify(listener)).not.toContain('127.0.0.1');
  });
});

describe('settling', () => {
  test('each result ends its vote as the taker says', async () => {
    server = await addFetchingServer(web);
    const ends = {
      delivered: 'delivered',
      sent: 'delivered',
      unknown: 'waiting',
      retry: 'waiting',
      failed: 'failed',
    };
    for (const player of Object.keys(ends)) await server.cast(player);
    const taken = await server.take();
    const results = taken.map(({ vote_id, lease, username }) => ({
      vote_id,
      lease,
      outcome: username,
      reason: `why\n${username}`,
    }));
    const { status, body } = await server.done(results);
    const settled = taken.map(({ vote_id }) => vote_id);
    expect([status, body]).toEqual([200, { settled, refused: [], fetching: true, paused: false }]);
    for (const { vote_id, username } of taken) {
      const { delivery } = await server.vote(vote_id);
      expect(delivery.state).toBe(ends[username as keyof typeof ends]);
      expect(delivery.attempts[0]?.words).toBe(`why ${username}`);
      expect(delivery).not.toHaveProperty('requestId');
    }
    const codes = await Promise.all(
      taken.map(async ({ vote_id }) => (await server.vote(vote_id)).delivery.attempts[0]?.code),
    );
    expect(codes).toEqual([
      'acknowledged',
      'sent-not-confirmed',
      'fetch-unknown',
      'fetch-retry',
      'fetch-failed',
    ]);
    // Again alike is settled; a different result is not.
    expect((await server.done(results)).body).toEqual(body);
    const [first] = results;
    expect((await server.done([{ ...first, outcome: 'failed' }])).body).toMatchObject({
      settled: [],
      refused: [{ vote_id: first?.vote_id, code: 'settled-differently' }],
    });
  });

  test('each result is independent', async () => {
    server = await addFetchingServer(web);
    await server.cast('Alex');
    const [taken] = await server.take();
    const lost = randomUUID();
    const { body } = await server.done([
      { vote_id: lost, lease: taken?.lease, outcome: 'delivered' },
      { vote_id: taken?.vote_id, lease: taken?.lease, outcome: 'delivered' },
    ]);
    expect(body).toMatchObject({
      settled: [taken?.vote_id],
      refused: [{ vote_id: lost, code: 'unknown-vote' }],
    });
    const other = await addFetchingServer(web);
    const foreign = await other.done([
      { vote_id: taken?.vote_id, lease: taken?.lease, outcome: 'delivered' },
    ]);
    expect(foreign.body).toMatchObject({ refused: [{ code: 'unknown-vote' }] });
  });

  test('a vote twice in one call, no result, 101 results and a long reason are refused', async () => {
    server = await addFetchingServer(web);
    const one = { vote_id: randomUUID(), lease: 'x', outcome: 'delivered' };
    const refused = [
      [],
      [one, { ...one, vote_id: one.vote_id.toUpperCase() }],
      Array.from({ length: 101 }, () => ({ ...one, vote_id: randomUUID() })),
      [{ ...one, reason: 'x'.repeat(201) }],
      [{ ...one, outcome: 'lost' }],
      [{ ...one, vote_id: 'x' }],
    ];
    for (const results of refused) expect((await server.done(results)).status).toBe(400);
    // 200 code points beyond the basic plane, a hundred times: more than 16 KiB, less than 64.
    const many = Array.from({ length: 60 }, () => ({
      ...one,
      vote_id: randomUUID(),
      reason: '𝓍'.repeat(200),
    }));
    expect((await server.done(many)).status).toBe(200);
    const tooLarge = await server.done([{ ...one, lease: 'x'.repeat(66_000) }]);
    expect([tooLarge.status, tooLarge.body.error]).toEqual([413, 'The body is larger than 64 KiB.']);
  });
});

describe('who may call', () => {
  test('a delivery token may do only this, and no other token may', async () => {
    server = await addFetchingServer(web);
    const { serverId } = server;
    const claim = await issueToken(web.deps, { serverId, name: 'claims', kind: 'claim' });
    const api = await issueToken(web.deps, { serverId, name: 'api' });
    for (const { token } of [claim, api])
      for (const endpoint of ['take', 'done']) {
        const { status, body } = await web.call({ ...server, token }, `deliveries/${endpoint}`, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        });
        expect([status, body.code]).toEqual([403, 'scope-missing']);
      }
    for (const endpoint of ['info', 'votes', 'check-vote?username=Alex'])
      expect((await web.call(server, endpoint)).status).toBe(403);
    expect((await web.vote(server, 'Alex')).status).toBe(403);
    const other = await web.addServer();
    expect((await web.call({ ...server, serverId: other.serverId }, 'info')).status).toBe(401);
  });

  test('a wrong token is told which kind is needed', async () => {
    const one = await addFetchingServer(web);
    const refused = await one.call({}, { headers: { authorization: 'Bearer tpd_wrong' } });
    expect(refused.status).toBe(401);
    expect(refused.body.error).toMatch(/^A valid delivery token \(tpd_…\) of this server is needed/);
  });

  test('a server whose listener is another is told so', async () => {
    server = await addFetchingServer(web);
    await server.cast('Alex');
    const [taken] = await server.take();
    await setListener(
      web.deps,
      server.serverId,
      {
        protocol: 'votifier-v2',
        host: 'mc.example.org',
        port: 8192,
        secret: 'token-0123456789',
        serviceName: 'Tallyport',
      },
      'test',
    );
    const { status, body } = await server.call();
    expect([status, body.code]).toEqual([422, 'fetch-not-set']);
    // What was taken before is settled all the same.
    if (taken) await server.settle([taken], 'delivered');
    const unknown = { vote_id: randomUUID(), lease: 'x', outcome: 'retry' };
    expect((await server.done([unknown])).body).toMatchObject({ fetching: false, paused: false });
    expect((await server.vote(new UUID(taken?.vote_id))).delivery.state).toBe('delivered');
  });
});
