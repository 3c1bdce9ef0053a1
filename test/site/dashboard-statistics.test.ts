import { ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, expect, it } from 'vitest';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { topVoters } from '../../src/votes/top-voters.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { NOTHING } from '../history/samples.ts';
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

async function addVotes(
  { votes }: AppDeps,
  serverId: ObjectId,
  cast: [name: string, at: Date, more?: Partial<Vote>][],
) {
  const delivery = { state: 'none', step: 0, ambiguousEnds: 0, attemptCount: 0 } as const;
  await votes.insertMany(
    cast.map(([username, votedAt, more], i) => ({
      _id: new UUID(uuidv7()),
      serverId,
      username,
      usernameKey: username.toLowerCase(),
      seq: i + 1,
      votedAt,
      tokenId: null,
      delivery: { ...delivery, attempts: [], ends: {}, events: [] },
      ...more,
    })),
  );
}

it('the chart and the CSV file show votes per day', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId);
  const today = dayOf(web.deps.clock.now());
  const old = addDays(today, -40);
  for (const [day, votes] of [
    [today, 1_204],
    [old, 7],
  ] as const) {
    await web.deps.voteCounters.updateOne(
      { serverId, month: day.slice(0, 7) },
      { $set: { [`days.${day.slice(8)}`]: votes } },
      { upsert: true },
    );
  }
  const page = (await get(serverId)).body;
  expect(page).toContain('aria-label="Votes per day: 1,204 votes in 30 days"');
  const texts = [...page.matchAll(/data-texts="([^"]*)"/g)].map(([, text = '']) => text.split('\n'));
  expect(texts.find((values) => values.some((value) => value.includes('1,204')))).toHaveLength(30);
  expect((await get(serverId, '?days=90')).body).toContain('1,211 votes in 90 days');

  const file = await get(serverId, '/votes.csv?days=90');
  expect(file.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': expect.stringMatching(/^attachment; filename="[a-z0-9-]+-votes\.csv"$/),
  });
  const lines = file.body.split('\r\n');
  expect(lines).toHaveLength(92);
  expect([lines[0], lines.at(-2)]).toEqual(['\ufeffday,votes', `${today},1204`]);
  expect(lines).toContain(`${old},7`);
  expect((await get(serverId, '/other.csv')).statusCode).toBe(404);
  expect((await get(serverId, '/constructor')).statusCode).toBe(404);
});

it('unknown values are grey in charts and empty in CSV files', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId, { port: 25_566 });
  const today = dayOf(web.deps.clock.now());
  const probes = {
    ...NOTHING,
    onlineSeconds: 43_200,
    offlineSeconds: 21_600,
    playerSeconds: 432_000,
    latencySum: 43_200 * 20.456,
    latencySeconds: 43_200,
    peakPlayers: 12,
  };
  for (const ago of [1, 3]) {
    await web.deps.dailyStats.insertOne({
      _id: new ObjectId(),
      serverId,
      day: addDays(today, -ago),
      probes,
      reports: NOTHING,
    });
  }
  const page = (await get(serverId, '?days=90')).body;
  expect(page).toContain('50 % online, 25 % offline, 25 % not measured');
  expect(page).toContain('0 % online, 100 % not measured');
  // The day between them has no data: a gap in the charts of players and latency.
  expect(page.split(/<rect class="gap" x="0%" width="100%"/)).toHaveLength(3);
  const players = (await get(serverId, '/players.csv')).body.split('\r\n');
  expect(players).toEqual([
    '\ufeffday,average_players,peak_players',
    `${addDays(today, -3)},10,12`,
    `${addDays(today, -2)},,`,
    `${addDays(today, -1)},10,12`,
    '',
  ]);
  expect((await get(serverId, '/latency.csv')).body).toContain(`${addDays(today, -1)},20.46\r\n`);
  expect((await get(serverId, '/uptime.csv')).body).toContain(`${addDays(today, -1)},43200,21600,21600\r\n`);
});

it('the top voters leave out excluded votes and other months; names are not formulas in the CSV file', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId, { port: 25_567 });
  const middle = new Date('2028-03-15T12:00:00Z');
  const deps = { ...web.deps, clock: { now: () => middle } };
  await addVotes(deps, serverId, [
    ['steve', after(middle, -3 * DAY)],
    ['Steve', after(middle, -DAY)],
    ['Alex', after(middle, -2 * DAY)],
    ['Alex', after(middle, -30 * DAY)],
    ['Cheat', after(middle, -DAY), { excludedAt: middle, excludedBy: [new ObjectId()] }],
    ['Bea', after(middle, -MINUTE)],
  ]);
  expect(await topVoters(deps, serverId, 2)).toEqual([
    { username: 'Steve', votes: 2, lastVotedAt: after(middle, -DAY) },
    { username: 'Alex', votes: 1, lastVotedAt: after(middle, -2 * DAY) },
  ]);

  const now = web.deps.clock.now();
  await addVotes(web.deps, serverId, [['=HYPERLINK("http://x","y")', now, { seq: 101 }]]);
  expect((await get(serverId)).body).toContain('<bdi>=HYPERLINK(&quot;http://x&quot;,&quot;y&quot;)</bdi>');
  expect((await get(serverId, '/voters.csv')).body).toContain(`"'=HYPERLINK(""http://x"",""y"")",1,`);
});

it('a server without data says so', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId, { port: 25_568 });
  const page = (await get(serverId)).body;
  expect(page).toContain('No votes in the last 30 days.');
  expect(page).toContain('No data for the last 30 days.');
  expect(page).toContain('No votes this month.');
});
