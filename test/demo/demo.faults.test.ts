import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Challenge } from 'altcha-lib';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { freshDataFolder } from '../own-services/data-folder.ts';
import { askHere, at } from '../probing/asking.ts';
import { solve } from '../support/vote-form.ts';

const MAIN = fileURLToPath(new URL('../../src/demo.ts', import.meta.url));
const SERVERS = 40;

type Demo = { child: ChildProcess; said(): string; url: string; pid: number };

/** `npm run demo` without npm, after it has printed its introduction. */
async function start(env: Record<string, string | undefined>): Promise<Demo> {
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  });
  await expect.poll(() => said, { timeout: 120_000 }).toContain('Ctrl-C stops the demo.');
  const url = /Tallyport demo at (\S+[^.\s])\./.exec(said)?.[1] ?? '';
  return { child, said: () => said, url, pid: child.pid ?? 0 };
}

async function stop({ child, said }: Demo): Promise<void> {
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  expect(code, said()).toBe(0);
}

/** Sends the printed request, with its player name or another. */
async function vote({ said }: Demo, username: string): Promise<unknown> {
  const address = /curl -X POST (\S+)/.exec(said())?.[1] ?? '';
  const authorization = /Authorization: (Bearer \S+)'/.exec(said())?.[1] ?? '';
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ username }) });
  return answer.json();
}

/** Votes on the printed page, as its script does. */
async function voteOnPage({ said, url }: Demo, username: string, slug?: string): Promise<number> {
  const first = /(\S+\/vote)\?username=/.exec(said())?.[1] ?? '';
  const page = slug ? `${url}/servers/${slug}/vote` : first;
  const headers = { origin: url, 'sec-fetch-site': 'same-origin' };
  const send = (path: string, fields: Record<string, string>) =>
    fetch(page + path, { method: 'POST', headers, body: new URLSearchParams(fields), redirect: 'manual' });
  const asked = await send('/challenge', { username });
  if (!asked.ok) return asked.status;
  const challenge = (await asked.json()) as Challenge;
  return (await send('', { username, proof: await solve(challenge) })).status;
}

const until = (demo: Demo, text: RegExp, timeout = 300_000) =>
  expect.poll(demo.said, { timeout }).toMatch(text);

test('the demo: a ranking of forty, votes that arrive and wait, a server to list, and a second start', async () => {
  const { env: folder, record } = await freshDataFolder();
  const env = { ...folder, PORT: '0', METRICS_PORT: '0', PUBLIC_URL: 'http://localhost:0' };
  const demo = await start(env);

  // The printed request works at once, and the vote arrives.
  expect(await vote(demo, 'Steve')).toMatchObject({ success: true });
  await until(demo, /Harbour Lights: the listener received a vote: \{"username":"Steve"/);

  // Everybody who tries the demo is one network, with the limits of a production site.
  for (let n = 1; n <= 4; n += 1) expect(await voteOnPage(demo, `Visitor${n}`)).toBe(303);
  await until(demo, /Harbour Lights: the listener received a vote: \{"username":"Visitor4"/);
  expect(await voteOnPage(demo, 'Visitor5')).toBe(429);
  for (let n = 5; n <= 7; n += 1) expect(await voteOnPage(demo, `Visitor${n}`, 'ember-keep')).toBe(303);

  // A stopped listener gets its votes after its restart.
  process.kill(demo.pid, 'SIGUSR2');
  await until(demo, /Harbour Lights: the listener is down for 20 s/);
  expect(await vote(demo, 'Alex')).toMatchObject({ success: true });
  await until(demo, /the vote of Alex is waiting after 1 attempt/);
  expect(demo.said()).not.toContain('"username":"Alex"');

  // The server that the user can list answers with the text of the message file.
  const port = Number(/Its address +127\.0\.0\.1, port (\d+)/.exec(demo.said())?.[1]);
  await writeFile(/> (\S+message\.txt)/.exec(demo.said())?.[1] ?? '', 'tallyport-proof-1234\n');
  expect(await askHere()(at(port, 'minecraft'))).toMatchObject({ answer: { motd: 'tallyport-proof-1234' } });

  // The history is written in the background.
  await until(demo, /\(40 of 40 servers\)/);
  const client = new MongoClient(`mongodb://127.0.0.1:${(await record()).mongod.port}`);
  onTestFinished(() => client.close());
  const db = client.db('tallyport');
  const ranked = () => db.collection('servers').countDocuments({ 'ranked.votesCount': { $gt: 0 } });
  await expect.poll(ranked, { timeout: 120_000 }).toBe(SERVERS);
  const online = () => db.collection('servers').countDocuments({ 'probe.status': 'online' });
  await expect.poll(online, { timeout: 120_000 }).toBeGreaterThan(30);
  await until(demo, /votes of made-up players: \d+ arrived/);
  const held = { username: 'Visitor7', quarantinedAt: { $exists: true } };
  expect(await db.collection('votes').countDocuments(held)).toBe(1);

  // The made-up votes have deliveries of every kind, the figures of all days are counted, and the inbox has work.
  const states = await db.collection('votes').distinct('delivery.state');
  expect(states).toEqual(expect.arrayContaining(['delivered', 'failed', 'unconfirmed', 'waiting']));
  const figures = () => db.collection('site_figures').countDocuments({ 'deliveries.delivered': { $gt: 0 } });
  await expect.poll(figures, { timeout: 120_000 }).toBeGreaterThanOrEqual(30);
  const open = (name: string, filter: object) => db.collection(name).countDocuments(filter);
  await expect.poll(() => open('vote_exclusions', { state: 'excluded' }), { timeout: 120_000 }).toBe(1);
  expect(await open('vote_exclusions', { state: 'quarantined' })).toBeGreaterThan(1);
  expect(await open('complaints', { isOpen: true })).toBe(2);
  expect(await open('listeners', { 'breaker.openSince': { $exists: true } })).toBeGreaterThan(0);
  await until(demo, /"username":"Alex"/);
  const counted = await db.collection('rank_snapshots').countDocuments();
  const votes = await db.collection('votes').countDocuments();
  await client.close();
  await stop(demo);

  // A second start reuses the data of the first one.
  const again = await start(env);
  await until(again, /30 days of made-up history are there \(40 of 40 servers\)/);
  expect(await vote(again, 'Noor')).toMatchObject({ success: true });
  await until(again, /"username":"Noor"/);
  const later = new MongoClient(`mongodb://127.0.0.1:${(await record()).mongod.port}`);
  onTestFinished(() => later.close());
  const stands = later.db('tallyport');
  expect(await stands.collection('servers').countDocuments()).toBe(SERVERS);
  expect(await stands.collection('rank_snapshots').countDocuments()).toBeGreaterThanOrEqual(counted);
  expect(await stands.collection('votes').countDocuments()).toBeLessThan(votes + 100);
  await later.close();
  await stop(again);
  expect(again.said()).not.toMatch(/failed|"level":"(error|warn)"/);
}, 600_000);
