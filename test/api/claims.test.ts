import { ObjectId } from 'mongodb';
import { describe, expect, it, vi } from 'vitest';
import { removeListener, setListener } from '../../src/delivery/change-listener.ts';
import { setRewards } from '../../src/listeners/rewards.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { issueToken, revokeToken } from '../../src/servers/api-tokens.ts';
import { vrcFile } from '../../src/votes/claims/vrc-file.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { requestInclusion } from '../../src/votes/exclusions/request-exclusion.ts';
import { castVote } from '../support/casting.ts';
import { excludeVotes } from '../support/exclusions.ts';
import {
  A_CHECK,
  A_CLAIM,
  A_REWARD,
  call,
  claimsOfFile,
  native,
  RACES,
  said,
  vote,
  vrc,
} from './claiming.ts';

const listed = claimsOfFile();

describe('the ListForge contract', () => {
  it('answers 0 without a vote, 1 for a vote, 2 after the claim, and claims once', async () => {
    const all = await listed();
    expect(await said(all, `${A_CHECK}&username=Steve`)).toBe('0');
    expect(await said(all, `${A_CLAIM}&username=Steve`, 'POST')).toBe('0');
    await vote(all.deps, all.serverId, 'Steve');
    expect(await said(all, `${A_CHECK}&username=STEVE`)).toBe('1');
    expect(await said(all, `${A_CLAIM}&username=steve`, 'POST')).toBe('1');
    expect(await said(all, `${A_CHECK}&username=Steve`)).toBe('2');
    expect(await said(all, `${A_CLAIM}&username=Steve`)).toBe('0');
  });

  it('checks and claims in one call: 1, then 2; 0 without a vote', async () => {
    const all = await listed();
    expect(await said(all, `${A_REWARD}&username=Steve`)).toBe('0');
    await vote(all.deps, all.serverId, 'Steve');
    expect(await said(all, `${A_REWARD}&username=Steve`)).toBe('1');
    expect(await said(all, `${A_REWARD}&username=Steve`)).toBe('2');
  });

  it('answers without the slash before the query as well', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Steve');
    const url = `/api?${A_CHECK}&key=${all.key}&username=Steve`;
    expect((await all.app.inject({ url })).body).toBe('1');
    const posted = { method: 'POST' as const, url: '/api' };
    const form = { object: 'votes', element: 'claim', key: all.key, username: 'Steve', action: 'post' };
    const headers = { 'content-type': 'application/x-www-form-urlencoded, charset=utf-8' };
    const payload = new URLSearchParams(form).toString();
    expect((await all.app.inject({ ...posted, headers, payload })).body).toBe('1');
    expect((await all.app.inject({ url })).body).toBe('2');
  });

  it('takes a SteamID for a name, and parameters of a form', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, '76561198000000001');
    expect(await said(all, `${A_CHECK}&steamid=76561198000000001`)).toBe('1');
    const form = {
      action: 'post',
      object: 'votes',
      element: 'claim',
      key: all.key,
      steamid: '76561198000000001',
    };
    const answer = await all.app.inject({
      method: 'POST',
      url: '/api/',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(form).toString(),
    });
    expect(answer.body).toBe('1');
  });

  it('lists the voters of this and the previous month, and the newest votes, with numbers as text', async () => {
    const all = await listed();
    const { deps, serverId, clock } = all;
    clock.set(new Date('2026-10-30T10:00:00Z'));
    await vote(deps, serverId, 'Alex');
    clock.set(new Date('2026-11-02T10:00:00Z'));
    await vote(deps, serverId, 'Steve');
    clock.set(new Date('2026-11-04T10:00:00Z'));
    await vote(deps, serverId, 'Steve');
    await vote(deps, serverId, 'Zoe');
    const head = { name: 'Alpha Craft', address: 'play.example.org', port: '25565' };
    const voters = 'object=servers&element=voters&format=json&month=';
    expect(JSON.parse(await said(all, `${voters}current`))).toEqual({
      ...head,
      month: '202611',
      voters: [
        { nickname: 'Steve', votes: '2' },
        { nickname: 'Zoe', votes: '1' },
      ],
    });
    expect(JSON.parse(await said(all, `${voters}previous`))).toEqual({
      ...head,
      month: '202610',
      voters: [{ nickname: 'Alex', votes: '1' }],
    });
    expect(JSON.parse(await said(all, `${voters}current&limit=1`)).voters).toHaveLength(1);
    expect(JSON.parse(await said(all, `${voters}current&limit=-1`)).voters).toHaveLength(2);
    expect(await said(all, `${voters}2026-01`)).toBe('Error: unknown month');
    expect(await said(all, 'object=servers&element=votes&format=xml')).toBe('Error: unknown format');
    const votes = JSON.parse(await said(all, 'object=servers&element=votes&format=json')).votes;
    expect(votes[0]).toMatchObject({ timestamp: Date.parse('2026-11-04T10:00:00Z') / 1_000, claimed: '0' });
    // An excluded vote takes no place in the list.
    const { modifiedCount } = await deps.votes.updateMany(
      { serverId, votedAt: clock.now() },
      { $set: { excludedAt: clock.now() } },
    );
    expect(modifiedCount).toBe(2);
    const newest = JSON.parse(await said(all, 'object=servers&element=votes&format=json&limit=1')).votes;
    expect(newest).toMatchObject([{ timestamp: Date.parse('2026-11-02T10:00:00Z') / 1_000 }]);
    await deps.votes.updateMany({ serverId }, { $unset: { excludedAt: '' } });
    await deps.voteCounts.flush();
    const detail = JSON.parse(await said(all, 'object=servers&element=detail'));
    expect(detail).toMatchObject({
      ...head,
      id: serverId.toHexString(),
      is_online: '0',
      players: '0',
      votes: '3',
    });
    expect(Object.keys(detail).join(' ')).toBe(
      'id name address port private password location hostname map is_online players maxplayers version platform uptime score rank votes favorited comments url last_check last_online',
    );
  });
});

describe('the status/claim style', () => {
  it('answers 0, 1 or 2, and 1 for the claim that rewards', async () => {
    const all = await listed();
    expect(await said(all, 'action=status&username=Steve')).toBe('0');
    expect(await said(all, 'action=claim&username=Steve')).toBe('0');
    await vote(all.deps, all.serverId, 'Steve');
    expect(await said(all, `action=status&username=Steve&server=${all.serverId.toHexString()}`)).toBe('1');
    expect(await said(all, 'action=status&username=Steve&server=alpha-craft')).toBe('1');
    expect(await said(all, 'action=claim&steamid=Steve')).toBe('1');
    expect(await said(all, 'action=claim&username=Steve')).toBe('2');
    expect(await said(all, 'action=status&username=Steve')).toBe('2');
    expect(await said(all, `action=status&username=Steve&server=${new ObjectId()}`)).toBe(
      'Error: server key not found',
    );
  });
});

describe('VoteReward’s contract', () => {
  it('answers with booleans at the addresses of the file', async () => {
    const all = await listed();
    const file = vrcFile({ name: 'Tallyport', url: '' }, 'page', all.key);
    const at = async (address: string) =>
      (await all.app.inject({ url: address.replace('{USERNAME}', encodeURIComponent('Big Steve')) })).json();
    expect(await at(file.check)).toEqual({ voted: false, claimed: false });
    expect(await at(file.claim)).toEqual({ voted: false, claimed: false });
    await vote(all.deps, all.serverId, 'Big Steve');
    expect(await at(file.check)).toEqual({ voted: true, claimed: false });
    expect(await at(file.claim)).toEqual({ voted: true, claimed: true });
    expect(await at(file.check)).toEqual({ voted: true, claimed: true });
    expect(await at(file.claim)).toEqual({ voted: true, claimed: false });
    // A plus is a space, as PHP encodes it.
    expect((await all.app.inject({ url: file.check.replace('{USERNAME}', 'Big+Steve') })).json()).toEqual({
      voted: true,
      claimed: true,
    });
  });
});

describe('every contract', () => {
  it('answers with status 200, without a line feed, and is never stored', async () => {
    const all = await listed();
    for (const query of [
      `${A_CHECK}&username=Steve`,
      'action=status&username=Steve',
      'object=servers&element=detail',
      'key=wrong',
    ]) {
      const { status, body, headers } = await call(all, query);
      expect([status, headers['cache-control'], headers['referrer-policy']]).toEqual([
        200,
        'no-store',
        'no-referrer',
      ]);
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(body).not.toMatch(/\n/);
    }
    const { headers } = await all.app.inject({ url: `/api/vrc?key=${all.key}&username=x` });
    expect([headers['cache-control'], headers['content-type']]).toEqual([
      'no-store',
      'application/json; charset=utf-8',
    ]);
  });

  it('refuses a wrong, revoked or missing key, an API token, and the key of a removed server', async () => {
    const all = await listed();
    const { deps, serverId } = all;
    const wrong = 'Error: server key not found';
    const ask = (key: string) => said(all, `${A_CHECK}&username=Steve&key=${key}`);
    expect(await ask('tpc_000000000000000000000000000000000000')).toBe(wrong);
    expect(await ask(all.key.replace('tpc_', 'tp_'))).toBe(wrong);
    expect(await ask('')).toBe(wrong);
    expect(await ask(all.token)).toBe(wrong);
    expect(await ask(all.key)).toBe('0');
    expect((await all.app.inject({ url: `/api/vrc?key=${all.token}&username=x` })).json()).toEqual({
      voted: false,
      claimed: false,
      error: 'server key not found',
    });
    const { tokenId, token: revoked } = await issueToken(deps, { serverId, name: 'old', kind: 'claim' });
    expect(await ask(revoked)).toBe('0');
    await revokeToken(deps, serverId, new ObjectId(tokenId));
    expect(await ask(revoked)).toBe(wrong);
    await deps.servers.updateOne({ _id: serverId }, { $set: { removedAt: new Date() } });
    deps.authentications.forget(() => true);
    expect(await ask(all.key)).toBe(wrong);
  });

  it('says what is missing, and that an impossible name has not voted', async () => {
    const all = await listed();
    expect(await said(all, A_CHECK)).toBe('Error: username or steamid is missing');
    expect(await said(all, 'object=votes&element=other&username=Steve')).toBe(
      'Error: unknown object, element or action',
    );
    expect(await said(all, 'action=other&username=Steve')).toBe('Error: unknown object, element or action');
    expect(await said(all, `${A_CHECK}&username=${'x'.repeat(51)}`)).toBe('0');
  });

  it('knows no vote after 24 hours, and no excluded or quarantined one', async () => {
    const all = await listed();
    const { deps, serverId, clock } = all;
    await vote(deps, serverId, 'Old');
    clock.move(DAY);
    expect(await said(all, `${A_CHECK}&username=Old`)).toBe('0');
    await vote(deps, serverId, 'Out');
    const since = clock.now();
    clock.move(HOUR);
    const request = { serverId, since, until: clock.now(), tokenId: null, reason: 'Bots' };
    await excludeVotes(deps, request, 'test', { settledMs: -DAY });
    expect(await said(all, `${A_CHECK}&username=Out`)).toBe('0');
    expect(await said(all, `${A_REWARD}&username=Out`)).toBe('0');
    const quarantineId = await openQuarantine(deps, serverId, 'Many.');
    await castVote(deps, { serverId, username: 'Held', tokenId: null, quarantineId });
    expect(await said(all, `${A_REWARD}&username=Held`)).toBe('0');
    expect(await vrc(all, 'Held', true)).toEqual({ voted: false, claimed: false });

    // The time to claim begins with the release.
    all.clock.move(2 * DAY);
    await requestInclusion(deps, quarantineId, 'operator');
    await finishExclusion(deps, quarantineId, { settledMs: -HOUR });
    all.clock.move(DAY - HOUR);
    expect(await said(all, `${A_REWARD}&username=Held`)).toBe('1');
    all.clock.move(HOUR);
    expect(await said(all, `${A_CHECK}&username=Held`)).toBe('0');
  });

  it('claims nothing when the owner chose the listener; forwards nothing when the owner chose claims', async () => {
    const all = await listed();
    const { deps, serverId } = all;
    const settings = {
      protocol: 'votifier-v2',
      host: 'play.example.org',
      port: 8_192,
      secret: 'a-token-of-a-test',
    } as const;
    await setListener(deps, serverId, { ...settings, serviceName: 'Tallyport' }, 'test');
    const stateOf = async (username: string) => (await deps.votes.findOne({ username }))?.delivery.state;
    await vote(deps, serverId, 'Both');
    expect([await stateOf('Both'), await said(all, `${A_CHECK}&username=Both`)]).toEqual(['waiting', '1']);

    await setRewards(deps, serverId, 'claims', 'owner');
    await vote(deps, serverId, 'Asked');
    expect([await stateOf('Asked'), await said(all, `${A_REWARD}&username=Asked`)]).toEqual(['none', '1']);

    await setRewards(deps, serverId, 'push', 'owner');
    await vote(deps, serverId, 'Pushed');
    expect(await stateOf('Pushed')).toBe('waiting');
    expect(await said(all, `${A_CHECK}&username=Pushed`)).toBe('Error: claims are off for this server');
    expect(await said(all, 'action=claim&username=Pushed')).toBe('Error: claims are off for this server');
    expect(await vrc(all, 'Pushed', true)).toEqual({
      voted: false,
      claimed: false,
      error: 'claims are off for this server',
    });
    expect((await native(all, all.token, 'Pushed')).status).toBe(409);

    // A vote for the listener is never claimable by a later choice, and a vote for claims always is.
    await vote(deps, serverId, 'Claims');
    await deps.votes.updateOne({ username: 'Claims' }, { $set: { 'delivery.state': 'none' } });
    expect(await said(all, `${A_CHECK}&username=Claims`)).toBe('1');
    await setRewards(deps, serverId, 'claims', 'owner');
    expect(await said(all, `${A_CHECK}&username=Pushed`)).toBe('2');
    expect(await said(all, `${A_REWARD}&username=Pushed`)).toBe('2');
    const { votes } = JSON.parse(await said(all, 'object=servers&element=votes&format=json'));
    const shown = votes.map(({ nickname, claimed }: Record<string, string>) => [nickname, claimed]);
    expect(Object.fromEntries(shown)).toEqual({ Both: '1', Asked: '1', Pushed: '1', Claims: '0' });
    expect(await vrc(all, 'Pushed')).toEqual({ voted: true, claimed: true });
    expect((await native(all, all.token, 'Pushed')).json).toMatchObject({ claimed: false, claimed_at: null });
    // Nor by a choice of both, which is for later votes.
    await deps.listeners.updateOne({ serverId }, { $set: { rewards: 'push' } });
    await setRewards(deps, serverId, 'both', 'owner');
    await deps.listeners.updateOne({ serverId }, { $set: { rewardsSince: after(deps.clock.now(), HOUR) } });
    expect(await said(all, `${A_REWARD}&username=Pushed`)).toBe('2');
    await setRewards(deps, serverId, 'claims', 'owner');
    await deps.votes.updateOne({ username: 'Both' }, { $set: { 'delivery.ends': { ambiguous: 1 } } });
    await removeListener(deps, serverId, 'test');
    // The removed listener may have got the one, and never got the other.
    expect(await said(all, `${A_REWARD}&username=Both`)).toBe('2');
    expect(await said(all, `${A_REWARD}&username=Pushed`)).toBe('1');
    expect(await said(all, `${A_REWARD}&username=Claims`)).toBe('1');
  });
});

describe('of 50 claims of one vote at once exactly one succeeds', () => {
  it.each(RACES)('%s', async (_name, { claim, won, check = claim, after }) => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Steve');
    const answers = await Promise.all(Array.from({ length: 50 }, () => claim(all)));
    expect(answers.filter((body) => won.test(body))).toHaveLength(1);
    expect(await check(all)).toMatch(after);
  });
});

describe('the native claim', () => {
  it('answers when the vote was cast and claimed, with an API token or a claim key', async () => {
    const all = await listed();
    const none = { claimed: false, voted_at: null, claimed_at: null, next_vote_at: null };
    expect((await native(all, all.token, 'Steve')).json).toEqual(none);
    await vote(all.deps, all.serverId, 'Steve');
    all.clock.move(HOUR);
    const times = {
      voted_at: '2026-11-21T10:00:00.000Z',
      claimed_at: '2026-11-21T11:00:00.000Z',
      next_vote_at: '2026-11-22T10:00:00.000Z',
    };
    expect((await native(all, all.token, ' steve ')).json).toEqual({ claimed: true, ...times });
    expect((await native(all, all.key, 'Steve')).json).toEqual({ claimed: false, ...times });
  });

  it('replays the first answer to the same Idempotency-Key, and refuses it for another player', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Steve');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => native(all, all.token, 'Steve', 'k1')),
    );
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(answers[0]?.json.claimed).toBe(true);
    const replayed = answers.map(({ isReplayed }) => isReplayed);
    expect(replayed.filter((header) => header === null)).toHaveLength(1);
    expect(new Set(replayed)).toEqual(new Set([null, 'true']));
    expect((await native(all, all.token, 'Alex', 'k1')).status).toBe(422);
    expect((await native(all, all.token, 'Steve', 'k2')).json.claimed).toBe(false);
  });

  it('claims anew when the claim that a repeated call read is rolled back by a failover', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Steve');
    expect((await native(all, all.token, 'Steve', 'k1')).json.claimed).toBe(true);
    const { votes } = all.deps;
    const stale = await votes.findOne({ username: 'Steve' });
    await votes.updateOne({ username: 'Steve' }, { $unset: { claim: '' } });
    vi.spyOn(votes, 'findOne').mockResolvedValueOnce(stale);
    expect((await native(all, all.token, 'Steve', 'k1')).json.claimed).toBe(true);
    expect(await votes.findOne({ username: 'Steve' })).toMatchObject({ claim: { key: 'k1' } });
  });

  it('is all that a claim key may call, with check-vote', async () => {
    const { url, serverId, key } = await listed();
    const path = `/api/v1/servers/${serverId.toHexString()}`;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const status = async (method: 'GET' | 'POST', rest: string, body?: object) =>
      (
        await fetch(`${url}${path}/${rest}`, {
          method,
          headers,
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
      ).status;
    expect(await status('GET', 'check-vote?username=Steve')).toBe(200);
    expect(await status('POST', 'votes/claim', { username: 'Steve' })).toBe(200);
    expect(await status('POST', 'vote', { username: 'Steve' })).toBe(401);
    expect(await status('POST', 'status', { online_players: 1, max_players: 1 })).toBe(401);
    expect(await status('GET', 'info')).toBe(401);
    expect(await status('GET', 'reviews')).toBe(401);
  });
});

describe('a call with a claim key', () => {
  it('never claims by HEAD', async () => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Steve');
    for (const path of [`/api/?${A_CLAIM}&`, '/api/?action=claim&', '/api/vrc?action=claim&']) {
      const url = `${path}key=${all.key}&username=Steve`;
      const answer = await all.app.inject({ method: 'HEAD', url });
      expect([answer.statusCode, answer.headers.allow], path).toEqual([405, 'GET, POST']);
    }
    expect(await said(all, `${A_CHECK}&username=Steve`)).toBe('1');
  });

  it('names its server in capitals as well', async () => {
    const all = await listed();
    expect(await said(all, 'action=status&server=ALPHA-CRAFT&username=Steve')).toBe('0');
  });

  it('is refused after 3,000 calls or 120 lists in a minute, in every contract; API tokens are not', async () => {
    const all = await listed();
    const list = 'object=servers&element=votes&format=json';
    for (let n = 0; n < 120; n += 1) expect((await call(all, list)).status).toBe(200);

    const refused = await call(all, `${A_CHECK}&username=Steve`);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect(refused.body).toBe(
      'Error: This claim key is used too often: the next call is allowed at 2026-11-21T10:01:00.000Z.',
    );
    const url = `/api/vrc?key=${all.key}&username=Steve`;
    expect((await all.app.inject({ url })).statusCode).toBe(429);
    expect(await native(all, all.key, 'Steve')).toMatchObject({
      status: 429,
      json: { code: 'too-many-requests', next_allowed_at: '2026-11-21T10:01:00.000Z' },
    });
    const check = async (token: string) => {
      const checked = `${all.url}/api/v1/servers/${all.serverId.toHexString()}/check-vote?username=Steve`;
      return (await fetch(checked, { headers: { authorization: `Bearer ${token}` } })).status;
    };
    expect(await check(all.key)).toBe(429);
    expect([(await native(all, all.token, 'Steve')).status, await check(all.token)]).toEqual([200, 200]);

    all.clock.set(new Date('2026-11-21T10:01:00Z'));
    expect(await said(all, `${A_CHECK}&username=Steve`)).toBe('0');
  });
});
