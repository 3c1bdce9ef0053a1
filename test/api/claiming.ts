import { ObjectId } from 'mongodb';
import { afterEach, beforeAll } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { castVote } from '../support/casting.ts';
import { emptyDatabase } from '../support/databases.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { openWebAppOn, type WebApp } from '../support/web-app.ts';

export type Listed = WebApp & {
  clock: StoppedClock;
  serverId: ObjectId;
  key: string;
  token: string;
  url: string;
};

const SERVER = { name: 'Alpha Craft', address: 'play.example.org', port: 25_565 };

const START = new Date('2026-11-21T10:00:00Z');

/**
 * One application on a port for all tests of the file. The returned function lists a server with a claim key and an API
 * token; each test begins with an empty database and the same time.
 */
export function claimsOfFile(): () => Promise<Listed> {
  const clock = stoppedClock(START);
  let web: WebApp;
  let url: string;
  beforeAll(async () => {
    web = await openWebAppOn({ ...(await testDeps()), clock });
    url = await web.app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterEach(async () => {
    clock.set(START);
    await emptyDatabase(web.deps.mongo);
  });

  return async () => {
    const { deps } = web;
    const serverId = new ObjectId((await addServer(deps, SERVER, 'test')).serverId);
    const { token: key } = await issueToken(deps, { serverId, name: 'plugin', kind: 'claim' });
    const { token } = await issueToken(deps, { serverId, name: 'website' });
    return { ...web, clock, url, serverId, key, token };
  };
}

/** A vote of the API. */
export const vote = (deps: AppDeps, serverId: ObjectId, username: string) =>
  castVote(deps, { serverId, username, tokenId: new ObjectId() });

/** A call of a plugin; a parameter `key` is added. */
export async function call({ app, key }: Listed, query: string, method: 'GET' | 'POST' = 'GET') {
  const answer = await app.inject({
    method,
    url: `/api/?${query}${query.includes('key=') ? '' : `&key=${key}`}`,
  });
  return { status: answer.statusCode, body: answer.body, headers: answer.headers };
}

export const said = async (...of: Parameters<typeof call>) => (await call(...of)).body;

export async function vrc({ app, key }: Listed, username: string, claim = false): Promise<unknown> {
  const url = `/api/vrc?key=${key}&username=${encodeURIComponent(username)}${claim ? '&action=claim' : ''}`;
  return (await app.inject({ url })).json();
}

/** The native claim, over a connection: its hooks read what only a real request has. */
export async function native({ url, serverId }: Listed, token: string, username: string, key?: string) {
  const answer = await fetch(`${url}/api/v1/servers/${serverId.toHexString()}/votes/claim`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(key ? { 'idempotency-key': key } : {}),
    },
    body: JSON.stringify({ username }),
  });
  const body = await answer.text();
  const isReplayed = answer.headers.get('idempotent-replayed');
  return { status: answer.status, body, json: JSON.parse(body), isReplayed };
}

export const A_CHECK = 'object=votes&element=claim';
export const A_CLAIM = 'action=post&object=votes&element=claim';
export const A_REWARD = 'action=custom&object=plugin&element=reward';

/** The body of an answer about Steve. */
type Ask = (all: Listed) => Promise<string>;

/** A claim of each contract, the answer of the one that won, and what a check (or a further claim) answers then. */
type Race = { claim: Ask; won: RegExp; check?: Ask; after: RegExp };

const asking =
  (query: string): Ask =>
  (all) =>
    said(all, `${query}&username=Steve`);

const posting =
  (query: string): Ask =>
  (all) =>
    said(all, `${query}&player=Steve`, 'POST');

const vrcAsking =
  (claim: boolean): Ask =>
  async (all) =>
    JSON.stringify(await vrc(all, 'Steve', claim));

const natively: Ask = async (all) => (await native(all, all.key, 'Steve')).body;

/** The answer at an address with `KEY` for the claim key. */
export async function at({ app, key }: Listed, path: string, method: 'GET' | 'POST' = 'GET') {
  const { statusCode, body, headers } = await app.inject({ method, url: path.replace('KEY', key) });
  return { status: statusCode, body, headers };
}

const atPath =
  (path: string, method: 'GET' | 'POST' = 'GET'): Ask =>
  async (all) =>
    (await at(all, path, method)).body;

export const RACES: [contract: string, Race][] = [
  ['ListForge', { claim: asking(A_CLAIM), won: /^1$/, check: asking(A_CHECK), after: /^2$/ }],
  ['ListForge reward', { claim: asking(A_REWARD), won: /^1$/, after: /^2$/ }],
  ['status/claim', { claim: asking('action=claim'), won: /^1$/, after: /^2$/ }],
  [
    'VoteReward',
    {
      claim: vrcAsking(true),
      won: /"claimed":true/,
      check: vrcAsking(false),
      after: /^{"voted":true,"claimed":true}$/,
    },
  ],
  [
    'minecraft-server.net',
    {
      claim: posting('action=setClaimed'),
      won: /^2$/,
      check: posting('action=checkVote'),
      after: /^2$/,
    },
  ],
  [
    'minecraftlist.org',
    {
      claim: atPath('/api/v1/claim/KEY/Steve'),
      won: /"claimed":true/,
      check: atPath('/api/v1/check/KEY/Steve'),
      after: /"voted":true,"claimed":true/,
    },
  ],
  [
    'minecraftservers.biz',
    {
      claim: atPath('/api/votes/claim/KEY/Steve/', 'POST'),
      won: /"claimed" : true/,
      check: atPath('/api/votes/check/KEY/Steve/'),
      after: /"voted" : true, "claimed" : true/,
    },
  ],
  [
    'top-server.net',
    {
      claim: atPath('/api/v1/vote/claim?key=KEY&player=Steve', 'POST'),
      won: /"claimed":1/,
      check: atPath('/api/v1/vote/check?key=KEY&player=Steve'),
      after: /"pending":0/,
    },
  ],
  ['the native API', { claim: natively, won: /"claimed":true/, after: /"claimed":false/ }],
];
