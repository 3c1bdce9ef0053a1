import { connect } from 'node:net';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { createLogger } from '../../src/platform/log.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { vrcFile } from '../../src/votes/claims/vrc-file.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { drainHere, QUICK } from '../support/delivering.ts';
import { collectLines } from '../support/log-lines.ts';
import { testDeps } from '../support/test-deps.ts';
import { openWebAppOn } from '../support/web-app.ts';
import { vote } from './claiming.ts';

const { lines, add } = collectLines();
let deps: AppDeps;
let url: string;

beforeAll(async () => {
  const opened = await testDeps(QUICK);
  deps = { ...opened, log: createLogger({ LOG_LEVEL: 'trace' }, 'web', { write: add }) };
  const { app } = await openWebAppOn(deps);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});

/** Lists a server with a claim key. */
async function listed() {
  const added = await addServer(deps, { name: 'Alpha', address: 'play.example.org', port: 25_565 }, 'test');
  const serverId = new ObjectId(added.serverId);
  const { token: key } = await issueToken(deps, { serverId, name: 'plugin', kind: 'claim' });
  return { serverId, key };
}

/**
 * EasyVote for Rust: GET with a timeout of 15 s, the answer counts with status 200 only, compared as a text. `{0}` is the
 * key and `{1}` the SteamID in its configuration.
 */
async function easyVote(checkUrl: string, claimUrl: string, key: string, steamId: string): Promise<string> {
  const get = async (address: string) => {
    const answer = await fetch(address.replace('{0}', key).replace('{1}', steamId), {
      signal: AbortSignal.timeout(15_000),
    });
    return answer.status === 200 ? answer.text() : 'no answer';
  };
  if ((await get(checkUrl)) !== '1') return 'no reward';
  return (await get(claimUrl)) === '1' ? 'reward' : 'no reward';
}

/** Azuriom: the vote counts when the body of the answer is exactly `1`. */
async function azuriom(url: string, key: string, name: string): Promise<boolean> {
  const query = new URLSearchParams({ object: 'votes', element: 'claim', key, username: name });
  return (await (await fetch(`${url}/api/?${query}`)).text()) === '1';
}

/** VoteReward for PocketMine: 5 s, both fields must be booleans, and a reward needs a claim that says so. */
async function voteReward(file: { check: string; claim: string }, name: string): Promise<boolean> {
  const ask = async (address: string) => {
    const answer = await fetch(
      address.replace('{USERNAME}', encodeURIComponent(name).replaceAll('%20', '+')),
      {
        signal: AbortSignal.timeout(5_000),
      },
    );
    const json = (await answer.json()) as { voted: unknown; claimed: unknown };
    if (typeof json.voted !== 'boolean' || typeof json.claimed !== 'boolean') throw new Error('no booleans');
    return { voted: json.voted, claimed: json.claimed };
  };
  const checked = await ask(file.check);
  if (!checked.voted || checked.claimed) return false;
  const claimed = await ask(file.claim);
  return claimed.voted && claimed.claimed;
}

describe('the plugins of today reward each vote once', () => {
  it('EasyVote, with the addresses of its configuration', async () => {
    const { serverId, key } = await listed();
    const check = `${url}/api/?object=votes&element=claim&key={0}&steamid={1}`;
    const claim = `${url}/api/?action=post&object=votes&element=claim&key={0}&steamid={1}`;
    const steamId = '76561198000000001';
    expect(await easyVote(check, claim, key, steamId)).toBe('no reward');
    await vote(deps, serverId, steamId);
    const all = await Promise.all(Array.from({ length: 20 }, () => easyVote(check, claim, key, steamId)));
    expect(all.filter((one) => one === 'reward')).toHaveLength(1);
  });

  it('Azuriom, which only asks', async () => {
    const { serverId, key } = await listed();
    expect(await azuriom(url, key, 'Steve')).toBe(false);
    await vote(deps, serverId, 'Steve');
    expect(await azuriom(url, key, 'Steve')).toBe(true);
    expect(await azuriom(url, 'wrong', 'Steve')).toBe(false);
  });

  it('VoteReward, with its file', async () => {
    const { serverId, key } = await listed();
    const file = vrcFile({ name: 'Tallyport', url }, `${url}/servers/alpha`, key);
    expect(await voteReward(file, 'Big Steve')).toBe(false);
    await vote(deps, serverId, 'Big Steve');
    const all = await Promise.all(Array.from({ length: 20 }, () => voteReward(file, 'big steve')));
    expect(all.filter(Boolean)).toHaveLength(1);
    expect(await voteReward(file, 'Big Steve')).toBe(false);
  });

  it('a claim and the delivery of the same votes change nothing of each other', async () => {
    const { serverId, key } = await listed();
    const listener = new VotifierListener();
    await listener.start();
    atTheEnd(() => listener.stop());
    const settings = {
      protocol: 'votifier-v2',
      host: '127.0.0.1',
      port: listener.port,
      secret: listener.token,
    } as const;
    await setListener(deps, serverId, { ...settings, serviceName: 'Tallyport' }, 'test');
    const players = Array.from({ length: 10 }, (_, i) => `Player${i}`);
    for (const name of players) await vote(deps, serverId, name);
    await Promise.all([
      drainHere(deps, serverId),
      ...players.map(async (name) => {
        const query = new URLSearchParams({ action: 'claim', key, username: name });
        expect(await (await fetch(`${url}/api/?${query}`)).text()).toBe('1');
      }),
    ]);
    expect(await deps.votes.countDocuments({ serverId, 'delivery.state': 'delivered' })).toBe(10);
    expect(await deps.votes.countDocuments({ serverId, claim: { $exists: true } })).toBe(10);
    expect(new Set(listener.votes.map(({ username }) => username)).size).toBe(10);
  });
});

describe('a claim key', () => {
  it('is in no log line, whatever is asked rightly or wrongly', async () => {
    const { serverId, key } = await listed();
    await vote(deps, serverId, 'Steve');
    const query = `key=${key}&username=Steve`;
    const addresses = [
      `/api/?object=votes&element=claim&${query}`,
      `/api/?action=claim&${query}`,
      `/api/vrc?${query}`,
      `/api/vrc/?${query}`,
      `/api/?object=servers&element=detail&${query}`,
      `/api?${query}`,
      `/api/${key}?${query}`,
      `/api/v1/check/${key}/Steve`,
      `/api/v1/claim/${key}/%E0%A4%A`,
      `/api/v1/claim/${key}`,
      `/api/votes/claim/${key}/Steve/`,
      `/api/v1/vote/check?key=${key}&player=Steve`,
      `/api/vrc?${query}&x=%E0%A4%A`,
      `/%E0%A4%A?${query}`,
      `/dashboard?${query}`,
      `/api/?${query}&x=${'y'.repeat(17_000)}`,
    ];
    for (const address of addresses)
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        await fetch(url + address, { method, redirect: 'manual' });
    // What is no request at all.
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
        socket.end(`GET /api/?${query}\r\nHost x\r\n\r\n`),
      );
      socket.on('close', () => resolve()).resume();
    });
    // A database that does not answer: the error is logged.
    const { batcher } = deps;
    const load = batcher.load;
    batcher.load = () => Promise.reject(new Error('the database is away'));
    const failed = await fetch(`${url}/api/?action=status&${query}`);
    batcher.load = load;
    expect([failed.status, (await failed.text()).startsWith('Error: ')]).toEqual([500, true]);

    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toContain(key);
    // Not even the part that nobody else knows.
    expect(JSON.stringify(lines)).not.toContain(key.slice(9, 30));
  });
});
