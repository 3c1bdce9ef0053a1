import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { setRewards } from '../../src/listeners/rewards.ts';
import { DAY } from '../../src/platform/clock.ts';
import { at, claimsOfFile, type Listed, said, vote } from './claiming.ts';

const listed = claimsOfFile();

/** The owner chooses that only the listener rewards votes. */
async function turnClaimsOff({ deps, serverId }: Listed) {
  const to = { protocol: 'votifier-v2', host: 'play.example.org', port: 8_192, secret: 'a-test' } as const;
  await setListener(deps, serverId, { ...to, serviceName: 'Tallyport' }, 'test');
  await setRewards(deps, serverId, 'push', 'test');
}

/** A POST to an address, with a body of a type. */
async function posted({ app }: Listed, url: string, type: string, payload: string) {
  const answer = await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload });
  return { status: answer.statusCode, body: answer.body };
}

const WRONG = 'tpc_000000000000000000000000000000000000';

describe('minecraft-server.net', () => {
  const CHECK = 'action=checkVote&player=Steve';
  const CLAIM = 'action=setClaimed&player=Steve';

  it('answers a check with 0, 1 or 2; a claim with 0, 2 for “now” and 1 for “before”', async () => {
    const all = await listed();
    expect(await said(all, CHECK, 'POST')).toBe('0');
    expect(await said(all, CLAIM, 'POST')).toBe('0');
    await vote(all.deps, all.serverId, 'Steve');
    expect(await said(all, 'action=checkVote&player=STEVE', 'POST')).toBe('1');
    expect(await said(all, CLAIM, 'POST')).toBe('2');
    expect(await said(all, CHECK, 'POST')).toBe('2');
    expect(await said(all, CLAIM, 'POST')).toBe('1');
    all.clock.move(DAY);
    expect(await said(all, CHECK)).toBe('0');
  });

  it('takes the parameters of a form and of a JSON body', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Steve');
    const call = { action: 'checkVote', key: all.key, player: 'Steve' };
    expect(await posted(all, '/api/', 'application/json', JSON.stringify(call))).toEqual({
      status: 200,
      body: '1',
    });
    const claim = new URLSearchParams({ ...call, action: 'setClaimed' }).toString();
    expect(await posted(all, '/api/', 'application/x-www-form-urlencoded', claim)).toEqual({
      status: 200,
      body: '2',
    });
    expect(await posted(all, '/api/', 'application/json', '{"action"')).toEqual({
      status: 400,
      body: 'Error: The body is not valid JSON.',
    });
  });

  it('has the published texts of errors', async () => {
    const all = await listed();
    const denied = 'Access denied.';
    const wrong = (parameter: string) =>
      `${denied} Please check the api documentation for parameter "${parameter}".`;
    expect(await said(all, `${CHECK}&key=${WRONG}`)).toBe(denied);
    expect(await said(all, 'action=checkVote')).toBe(wrong('player'));
    expect(await said(all, 'action=setClaimed&player=')).toBe(wrong('player'));
    expect(await said(all, 'action=getVotes&player=Steve')).toBe(wrong('action'));
    expect(await said(all, 'player=Steve')).toBe(wrong('action'));
    expect(await said(all, `action=checkVote&player=${'x'.repeat(51)}`)).toBe('0');
    await vote(all.deps, all.serverId, 'Steve');
    await turnClaimsOff(all);
    expect(await said(all, 'action=setClaimed&player=Alex')).toBe(
      `${denied} Please enable the api inside your user control panel.`,
    );
  });
});

describe('minecraftlist.org', () => {
  it('answers as its published examples', async () => {
    const all = await listed();
    const check = async (name = 'troll') => (await at(all, `/api/v1/check/KEY/${name}`)).body;
    const claim = async () => (await at(all, '/api/v1/claim/KEY/troll')).body;
    const none = '{"username":"troll","voted":false,"claimed":false,"type":"check"}';
    expect(await check()).toBe(none);
    expect(await claim()).toBe('{"username":"troll","voted":false,"claimed":false,"type":"claim"}');
    await vote(all.deps, all.serverId, 'Troll');
    expect(await check()).toBe('{"username":"troll","voted":true,"claimed":false,"type":"check"}');
    expect(await claim()).toBe('{"username":"troll","voted":true,"claimed":true,"type":"claim"}');
    expect(await check()).toBe('{"username":"troll","voted":true,"claimed":true,"type":"check"}');
    expect(await claim()).toBe('{"username":"troll","voted":true,"claimed":false,"type":"claim"}');
    all.clock.move(DAY);
    expect(await check()).toBe(none);
  });

  it('reads a name as plugins write it into the address', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Big Steve');
    await vote(all.deps, all.serverId, 'A+B');
    const voted = async (name: string) => JSON.parse((await at(all, `/api/v1/check/KEY/${name}`)).body);
    expect(await voted('Big+Steve')).toMatchObject({ username: 'Big Steve', voted: true });
    expect(await voted('big%20steve/')).toMatchObject({ username: 'big steve', voted: true });
    expect(await voted('A%2BB')).toMatchObject({ username: 'A+B', voted: true });
    expect(await voted('A+B')).toMatchObject({ username: 'A B', voted: false });
    expect(await voted('%F0%9F%98%80?x=%22')).toMatchObject({ username: '😀', voted: false });
    expect(await voted('')).toMatchObject({ username: '', voted: false });
    expect((await at(all, '/api/v1/check/KEY/%E0%A4%A')).status).toBe(400);
  });

  it('says that a key is wrong, and when claims are off', async () => {
    const all = await listed();
    expect((await at(all, `/api/v1/check/${WRONG}/troll`)).body).toBe('{"error":"Incorrect API key"}');
    expect((await at(all, `/api/v1/claim/${all.token}/troll`)).body).toBe('{"error":"Incorrect API key"}');
    await turnClaimsOff(all);
    expect((await at(all, '/api/v1/claim/KEY/troll')).body).toBe(
      '{"error":"Claims are off for this server"}',
    );
  });
});

describe('minecraftservers.biz', () => {
  const NONE = '{ "voted" : false, "claimed" : false }';

  it('answers as its published examples, and a repeated claim as no vote', async () => {
    const all = await listed();
    const check = async () => (await at(all, '/api/votes/check/KEY/Steve/')).body;
    const claim = async () => (await at(all, '/api/votes/claim/KEY/Steve/', 'POST')).body;
    expect(await check()).toBe(NONE);
    expect(await claim()).toBe(NONE);
    await vote(all.deps, all.serverId, 'Steve');
    expect(await check()).toBe('{ "voted" : true, "claimed" : false }');
    expect(await claim()).toBe('{ "voted" : true, "claimed" : true }');
    expect(await check()).toBe('{ "voted" : true, "claimed" : true }');
    expect(await claim()).toBe(NONE);
    expect((await at(all, '/api/votes/check/KEY/steve')).body).toBe('{ "voted" : true, "claimed" : true }');
    all.clock.move(DAY);
    expect(await check()).toBe(NONE);
  });

  it('says that a key is wrong, and when claims are off', async () => {
    const all = await listed();
    const none = { voted: false, claimed: false };
    const wrong = await at(all, `/api/votes/check/${WRONG}/Steve/`);
    expect(JSON.parse(wrong.body)).toEqual({ ...none, error: 'server key not found' });
    await turnClaimsOff(all);
    const off = await at(all, '/api/votes/claim/KEY/Steve/', 'POST');
    expect(JSON.parse(off.body)).toEqual({ ...none, error: 'claims are off for this server' });
  });
});

describe('top-server.net', () => {
  const CHECK = '/api/v1/vote/check?key=KEY&player=Pseudo123';
  const CLAIM = '/api/v1/vote/claim?key=KEY&player=Pseudo123';

  it('answers as its published examples; at most one vote is pending', async () => {
    const all = await listed();
    await all.deps.servers.updateOne({ _id: all.serverId }, { $set: { name: 'Mon Serveur' } });
    const none =
      '{"ok":true,"server":"Mon Serveur","player":"Pseudo123","hasPendingVote":false,"pending":0,"votes":[]}';
    expect((await at(all, CHECK)).body).toBe(none);
    expect((await at(all, CLAIM, 'POST')).body).toBe('{"ok":true,"claimed":0}');
    await vote(all.deps, all.serverId, 'pseudo123');
    all.clock.move(DAY);
    await vote(all.deps, all.serverId, 'pseudo123');
    const newest = await all.deps.votes.findOne({ seq: 2 });
    expect((await at(all, CHECK)).body).toBe(
      `{"ok":true,"server":"Mon Serveur","player":"Pseudo123","hasPendingVote":true,"pending":1,"votes":[{"id":"${newest?._id}","votedAt":"2026-11-22T10:00:00.000Z"}]}`,
    );
    expect((await at(all, CLAIM, 'POST')).body).toBe('{"ok":true,"claimed":1}');
    expect((await at(all, CLAIM, 'POST')).body).toBe('{"ok":true,"claimed":0}');
    expect((await at(all, CHECK)).body).toBe(none);
  });

  it('takes JSON, a form and a query, also with an empty JSON body', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Pseudo123');
    const call = { key: all.key, player: 'Pseudo123' };
    const claimed = (times: number) => ({ status: 200, body: `{"ok":true,"claimed":${times}}` });
    const url = '/api/v1/vote/claim';
    expect(await posted(all, url, 'application/json', JSON.stringify(call))).toEqual(claimed(1));
    const form = new URLSearchParams(call).toString();
    expect(await posted(all, url, 'application/x-www-form-urlencoded', form)).toEqual(claimed(0));
    expect(await posted(all, `${url}?${form}`, 'application/json', '')).toEqual(claimed(0));
  });

  it('answers 400 without a key or player, 401 for a wrong key, and says when claims are off', async () => {
    const all = await listed();
    const missing = { status: 400, body: '{"ok":false,"error":"key and player are required"}' };
    expect(await at(all, '/api/v1/vote/check?player=Pseudo123')).toMatchObject(missing);
    expect(await at(all, '/api/v1/vote/claim?key=KEY', 'POST')).toMatchObject(missing);
    expect(await at(all, `/api/v1/vote/check?key=${WRONG}&player=Pseudo123`)).toMatchObject({
      status: 401,
      body: '{"ok":false,"error":"invalid API key"}',
    });
    await turnClaimsOff(all);
    expect(await at(all, CLAIM, 'POST')).toMatchObject({
      status: 200,
      body: '{"ok":false,"error":"claims are off for this server"}',
    });
  });
});

describe('the lists of ListForge as HTML', () => {
  it('are tables in which names are escaped, and which run nothing when they are opened', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, '<b>Bob');
    const voters = await at(all, '/api/?object=servers&element=voters&month=current&format=html&key=KEY');
    expect(voters.body).toBe(
      '<table><tr><th>Nickname</th><th>Votes</th></tr><tr><td>&lt;b&gt;Bob</td><td>1</td></tr></table>',
    );
    expect(voters.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'cache-control': 'no-store',
    });
    expect(await said(all, 'object=servers&element=votes&format=html')).toBe(
      '<table><tr><th>Date</th><th>Nickname</th><th>Claimed</th></tr><tr><td>November 21, 2026 at 10:00 AM UTC</td><td>&lt;b&gt;Bob</td><td>0</td></tr></table>',
    );
    expect(await said(all, 'object=servers&element=detail&format=html')).toBe('Error: unknown format');
  });
});

describe('each of these contracts', () => {
  const CLAIMS = [
    '/api/?action=setClaimed&key=KEY&player=Steve',
    '/api/v1/claim/KEY/Steve',
    '/api/votes/claim/KEY/Steve/',
    '/api/v1/vote/claim?key=KEY&player=Steve',
  ];

  it('claims nothing by HEAD, and no cache may store its answers', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Steve');
    for (const path of CLAIMS) {
      const answer = await all.app.inject({ method: 'HEAD', url: path.replace('KEY', all.key) });
      expect([answer.statusCode, answer.headers.allow], path).toEqual([405, 'GET, POST']);
    }
    expect(await all.deps.votes.countDocuments({ claim: { $exists: true } })).toBe(0);
    for (const path of CLAIMS) {
      const { headers, body } = await at(all, path, 'POST');
      expect(headers, path).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
      expect(body, path).not.toMatch(/\n/);
    }
  });

  it('leaves the paths of the API as they are', async () => {
    const all = await listed();
    const server = `/api/v1/servers/${new ObjectId().toHexString()}`;
    // Over a connection: the API's hooks read what only a real request has.
    const status = async (path: string) => (await fetch(all.url + path)).status;
    expect(await status(`${server}/nothing`)).toBe(404);
    expect(await status(`${server}/info`)).toBe(401);
    expect(await status('/api/v1/other/key/Steve')).toBe(404);
  });

  it('counts for the limit of the claim key', async () => {
    const all = await listed();
    const list = '/api/?object=servers&element=votes&format=html&key=KEY';
    for (let n = 0; n < 120; n += 1) expect((await at(all, list)).status).toBe(200);
    for (const path of CLAIMS) {
      const { status, headers } = await at(all, path, 'POST');
      expect([status, headers['retry-after']], path).toEqual([429, '60']);
    }
  });
});
