import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { reportStatus } from '../../src/history/report-status.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import { insert, NOTHING, probe } from '../history/samples.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let olivia: SignedInUser;

beforeAll(async () => {
  web = await openWebApp();
  olivia = await signIn(web);
});

const get = (serverId: ObjectId, rest = '') =>
  getPage(web, `/dashboard/servers/${serverId.toHexString()}/statistics${rest}`, olivia.headers);

const online = (players: number) => ({
  ...NOTHING,
  onlineSeconds: 43_200,
  playerSeconds: 43_200 * players,
  latencySum: 43_200 * 20,
  latencySeconds: 43_200,
  peakPlayers: players,
});

/** Creates a server with a probe in this minute and a report one hour earlier. */
async function probedAndReporting(port: number): Promise<ObjectId> {
  const { deps } = web;
  const serverId = await addOwnedServer(deps, olivia.userId, { port });
  const now = deps.clock.now();
  const before = { ...deps, clock: { now: () => after(now, -60 * MINUTE) } };
  await reportStatus(before, serverId, { onlinePlayers: 77, maxPlayers: 100, latencyMs: 31 });
  await deps.servers.updateOne(
    { _id: serverId },
    { $set: { 'probe.status': 'online', 'probe.checkedAt': now, 'probe.succeededAt': now } },
  );
  await deps.statusSamples.insertOne({
    at: after(now, -MINUTE),
    serverId,
    source: 'probe',
    seconds: 300,
    status: 'online',
    onlinePlayers: 12,
    maxPlayers: 100,
    latencyMs: 20,
  });
  return serverId;
}

it('the statistics show reports of a probed server separately from our checks', async () => {
  const serverId = await probedAndReporting(25_580);
  const page = (await get(serverId)).body;
  expect(page).toContain('Reported by the server');
  expect(page).toContain('Players in 30 days, as reported');
  expect(page).toContain('Latency in 30 days, as reported');
  const at = page.indexOf('Reported by the server');
  const [ours, theirs] = [page.slice(0, at), page.slice(at, page.indexOf('Top voters this month'))];
  expect(theirs).toContain('>77<');
  expect(theirs).toContain('31 ms');
  expect(ours).toContain('>12<');
});

it('a single report has a chart of its own time range, without latency data', async () => {
  const { deps } = web;
  const serverId = await addOwnedServer(deps, olivia.userId, { port: 25_584 });
  const now = deps.clock.now();
  await reportStatus(deps, serverId, { onlinePlayers: 77, maxPlayers: 100 });
  await deps.servers.updateOne(
    { _id: serverId },
    { $set: { 'probe.status': 'online', 'probe.checkedAt': now, 'probe.succeededAt': now } },
  );
  await insert(
    deps,
    [20, 10, 1].map((days) => probe(serverId, after(now, -days * DAY), { onlinePlayers: 12 })),
  );
  const page = (await get(serverId)).body;
  const reported = page.slice(page.indexOf('Reported by the server'), page.indexOf('Top voters this month'));
  expect(reported).toContain('>77<');
  expect(reported).toContain('class="line lone"');
  expect(reported).not.toContain('class="gap"');
  expect(reported).toContain('No latency data for this period.');
  expect(reported).not.toContain('was not online in this period');
});

it('a server with only failed checks was not online; unknown time is called unknown', async () => {
  const { deps } = web;
  const now = deps.clock.now();
  for (const [port, status, words] of [
    [25_585, 'offline', 'The server was not online in this period.'],
    [25_586, 'unknown', 'Status unknown in this period.'],
  ] as const) {
    const serverId = await addOwnedServer(deps, olivia.userId, { port });
    await insert(deps, [probe(serverId, after(now, -60 * MINUTE), { status, onlinePlayers: 0 })]);
    expect((await get(serverId)).body).toContain(words);
  }
});

it('reported days have their own CSV file', async () => {
  const serverId = await probedAndReporting(25_581);
  const today = dayOf(web.deps.clock.now());
  for (const [ago, probes, reports] of [
    [1, online(12), online(70)],
    [2, online(10), NOTHING],
  ] as const) {
    const day = addDays(today, -ago);
    await web.deps.dailyStats.insertOne({ _id: new ObjectId(), serverId, day, probes, reports });
  }
  const lines = async (file: string) => (await get(serverId, `/${file}`)).body.split('\r\n').slice(0, -1);
  expect(await lines('reported.csv')).toEqual([
    '\ufeffday,average_players,peak_players,average_latency_ms',
    `${addDays(today, -2)},,,`,
    `${addDays(today, -1)},70,70,20`,
  ]);
  expect(await lines('players.csv')).toEqual([
    '\ufeffday,average_players,peak_players',
    `${addDays(today, -2)},10,10`,
    `${addDays(today, -1)},12,12`,
  ]);
  const page = (await get(serverId, '?days=90')).body;
  expect(page).toContain('Players in 90 days, as reported');
});

it('a server without reports and a server with only reports have one chart', async () => {
  const silent = await addOwnedServer(web.deps, olivia.userId, { port: 25_582 });
  expect((await get(silent)).body).not.toContain('Reported by the server');
  const reporting = await addOwnedServer(web.deps, olivia.userId, { port: 25_583 });
  await reportStatus(web.deps, reporting, { onlinePlayers: 5, maxPlayers: 10 });
  expect((await get(reporting)).body).not.toContain('Reported by the server');
});
