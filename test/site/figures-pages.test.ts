import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import type { DeliverySums } from '../../src/delivery/figures/delivery-day.ts';
import { noDeliveries } from '../../src/delivery/figures/delivery-sums.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import { changeOf, FIGURES, type Figure } from '../../src/site/admin/figure-rows.ts';
import type { SiteFigures } from '../../src/workflows/figures/site-figures.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { waitingVote } from '../support/votes.ts';
import { getPage, openWebApp, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let olivia: SignedInUser;
let operator: SignedInUser;

beforeAll(async () => {
  web = await openWebApp();
  olivia = await signIn(web);
  operator = await signIn(web, { role: 'operator' });
});

/** Text of a page without the space that a removed tag leaves before a full stop or comma. */
const wordsOf = (body: string) => textOf(body).replace(/ (?=[.,])/g, '');

/** Bucket 60 is some 300 ms, bucket 100 some 14 s. */
const GOOD: Partial<DeliverySums> = {
  api: 60,
  page: 40,
  delivered: 97,
  failed: 1,
  unconfirmed: 1,
  waiting: 1,
};
const TIMES = { times: { 60: 90, 100: 7 }, causes: { 'connection-refused': 12, reset: 2 } } as const;

async function addDeliveryDay(serverId: ObjectId, ago: number, sums: Partial<DeliverySums>) {
  const now = web.deps.clock.now();
  await web.deps.deliveryDays.insertOne({
    _id: new ObjectId(),
    serverId,
    day: addDays(dayOf(now), -ago),
    ...noDeliveries(),
    ...sums,
    countedAt: after(now, -HOUR / 2),
    forgetAt: after(now, DAY),
  });
}

const deliveries = (serverId: ObjectId, rest = '', headers: Record<string, string> = {}) =>
  getPage(web, `/dashboard/servers/${serverId.toHexString()}/deliveries${rest}`, {
    ...olivia.headers,
    ...headers,
  });

it('an owner sees rate, times, failures by cause and sources, and when they were counted', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId);
  await addDeliveryDay(serverId, 0, { ...GOOD, ...TIMES });
  await addDeliveryDay(serverId, 2, { page: 3, delivered: 3, times: { 60: 3 } });
  const { body } = await deliveries(serverId);
  const text = wordsOf(body);
  expect(text).toContain(
    'Votes are counted once an hour. Last count with votes of this server: 30 minutes ago.',
  );
  // 100 of 102: shares are rounded down, so that no failure reads as 100 %.
  expect(text).toContain('Success rate 98.0 % 100 of 102 votes delivered');
  expect(text).toMatch(/Half within 29\d ms p50 95 % within 13\.\d s p95; longest: 13\.\d s Failed/);
  expect(text).toContain('Failed 1 1 unconfirmed');
  expect(body).toContain('97 of 100 votes delivered, 1 waiting, 1 unconfirmed, 1 failed');
  expect(text).toMatch(
    /connection refused The machine answers, but nothing listens .* 12 .* Set up the vote listener/,
  );
  expect(text).toContain('connection refused, reset : 14 attempts failed, 97 votes were delivered');
  expect(body).toContain(': 100, 40 on the page, 60 through the API');
  expect(body).toMatch(/: 29\d ms, 95 % within 13\.\d s/);
  expect(Buffer.byteLength(body)).toBeLessThan(100_000);
});

it('waiting votes are those of now, whatever the days, with the time of the first', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId, { port: 25_569 });
  await addDeliveryDay(serverId, 0, { ...GOOD, waiting: 9 });
  const now = web.deps.clock.now();
  const votes = [8, 60].map((hours) => waitingVote(serverId, `Ann${hours}`, after(now, -hours * HOUR)));
  await web.deps.votes.insertMany(votes);
  for (const days of ['7', '90'])
    expect(wordsOf((await deliveries(serverId, `?days=${days}`)).body)).toContain(
      'Waiting now 2 the first one was queued 3 days ago',
    );
});

it('a shorter range is compared with the days before it, the longest is not', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId, { port: 25_568 });
  await addDeliveryDay(serverId, 1, { page: 3, delivered: 3, times: { 60: 3 } });
  await addDeliveryDay(serverId, 8, { page: 4, delivered: 4, times: { 100: 4 } });
  const shown = async (days: string) => wordsOf((await deliveries(serverId, `?days=${days}`)).body);
  const week = await shown('7');
  expect(week).toMatch(/29\d ms p50, before: 13\.\d s/);
  expect(week).toContain('3 of 3 votes delivered');
  const longest = await shown('90');
  expect(longest).toContain('7 of 7 votes delivered');
  expect(longest).not.toContain('before:');
  // The votes of 8 days ago are not from the first days of the month before.
  await addDeliveryDay(serverId, 31, { page: 4, delivered: 4, times: { 100: 4 } });
  expect(await shown('30')).not.toContain('before:');
  await addDeliveryDay(serverId, 58, { page: 4, delivered: 4, times: { 100: 4 } });
  expect(await shown('30')).toContain('before:');
  expect(await shown('1')).toContain('last 30 days');
});

it('the CSV files have a header and UTC days; unknown times are empty', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId, { port: 25_566 });
  await addDeliveryDay(serverId, 1, { ...GOOD, ...TIMES });
  const day = addDays(dayOf(web.deps.clock.now()), -1);
  const file = await deliveries(serverId, '/deliveries.csv');
  expect(file.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': expect.stringMatching(/^attachment; filename="[a-z0-9-]+-deliveries\.csv"$/),
  });
  const lines = file.body.split('\r\n');
  expect(lines[0]).toBe(
    '\ufeffday,votes_page,votes_api,votes_excluded,not_forwarded,waiting,delivered,unconfirmed,failed,p50_ms,p95_ms',
  );
  expect(lines).toHaveLength(92);
  expect(lines.at(-3)).toMatch(new RegExp(`^${day},40,60,0,0,1,97,1,1,29\\d,13\\d{3}$`));
  expect(lines.at(-2)).toMatch(/,0,0,0,0,0,0,0,0,,$/);
  const failures = (await deliveries(serverId, '/failures.csv')).body.split('\r\n');
  expect(failures).toEqual([
    '\ufeffday,cause,failed_attempts',
    `${day},connection-refused,12`,
    `${day},reset,2`,
    '',
  ]);
  for (const name of ['/other.csv', '/constructor'])
    expect((await deliveries(serverId, name)).statusCode).toBe(404);
});

it('a server without votes says so, in the language of the reader; strangers see nothing', async () => {
  const serverId = await addOwnedServer(web.deps, olivia.userId, { port: 25_567 });
  const text = wordsOf((await deliveries(serverId)).body);
  expect(text).toContain('Votes are counted once an hour. All days are UTC.');
  expect(text).toContain('Success rate – 0 of 0 votes delivered');
  expect(text).toContain('No votes were forwarded in the last 30 days.');
  expect(text).toContain('No attempt failed in the last 30 days.');
  const german = wordsOf((await deliveries(serverId, '', { 'accept-language': 'de' })).body);
  expect(german).toContain('Erfolgsquote – 0 von 0 Stimmen zugestellt');
  const max = await signIn(web);
  expect((await deliveries(serverId, '', max.headers)).statusCode).toBe(404);
});

async function addSiteDay(ago: number, figures: Partial<SiteFigures> = {}) {
  const now = web.deps.clock.now();
  const day = addDays(dayOf(now), -ago);
  const counted = { countedAt: after(now, -HOUR / 2), forgetAt: after(now, DAY) };
  await web.deps.siteFigures.replaceOne(
    { day },
    {
      day,
      servers: { listed: 20 - ago, added: 1, removed: 0 },
      deliveries: { ...noDeliveries(), ...GOOD, ...TIMES, times: { ...TIMES.times } },
      signUps: 3,
      ...counted,
      ...figures,
    },
    { upsert: true },
  );
}

const figures = (rest = '') => getPage(web, `/operator/figures${rest}`, operator.headers);

it('days before the listing began have no figures: nothing is drawn, and nothing is compared with them', async () => {
  await web.deps.siteFigures.deleteMany({});
  const nothing = { servers: { listed: 0, added: 0, removed: 0 }, deliveries: noDeliveries(), signUps: 0 };
  for (let ago = 0; ago < 35; ago += 1) await addSiteDay(ago, ago > 2 ? nothing : {});
  const { body } = await figures('?days=7');
  expect(body).not.toContain('7 days before');
  expect(wordsOf(body)).toContain('Votes 200 Success rate 97.9 %');
  expect((await figures('.csv')).body.split('\r\n')).toHaveLength(5);
});

it('an operator is told that no figures were counted yet', async () => {
  await web.deps.siteFigures.deleteMany({});
  expect(wordsOf((await figures()).body)).toContain('No figures yet. They are counted once an hour');
  expect((await figures('.csv')).body.split('\r\n')).toHaveLength(2);
});

it('an operator sees numbers against the period before, charts, tables, waits, and a CSV file', async () => {
  await web.deps.siteFigures.deleteMany({});
  for (let ago = 0; ago < 30; ago += 1) await addSiteDay(ago);
  const listed = await addOwnedServer(web.deps, olivia.userId, { port: 25_568 });
  await addDeliveryDay(listed, 1, GOOD);
  const storage = { dataBytes: 1_420_000_000, indexBytes: 310_000_000, documents: 9 };
  await addSiteDay(0, {
    storage,
    waiting: { under_1m: 4, over_24h: 2 },
    queues: { 'forward-votes': 95, 'send-mail': 0, 'an-old-queue': 3 },
  });
  await addSiteDay(1, {
    storage,
    signUps: 6,
    players: { average: 123.4, servers: 9 },
    mails: { sent: 12, waiting: 0, givenUp: 1 },
    deliveries: { ...noDeliveries(), api: 200, delivered: 50, failed: 50 },
  });
  const { body } = await figures('?days=7');
  const text = wordsOf(body);
  expect(text).toContain('Counted 30 minutes ago, once an hour.');
  expect(text).toContain('Sign-ups 24 up 14.3 %');
  expect(text).toMatch(/Sign-ups 3 6 up 100 % 24 up 14\.3 % 21/);
  expect(text).toMatch(/Success rate 97\.9 % 50\.0 % down 48 points 91\.0 % down 6\.9 points 97\.9 %/);
  expect(text).toMatch(/Votes on pages 40 0 down 100 % 240/);
  expect(text).toMatch(/Players online on average – 123 123 –/);
  expect(text).toContain('Storage: data 1.42 GB 1.42 GB 1.42 GB –');
  expect(text).toContain('under a minute 4');
  expect(text).toContain('over 24 hours 2');
  expect(text).toMatch(/Forward votes 2 minutes/);
  expect(text).not.toContain('Send mail 0');
  expect(text).toMatch(/Connection refused 72 85\.7 % Reset 12 14\.3 %/);
  expect(text).toMatch(/Vote pages 240 30\.0 % API 560 70\.0 %/);
  for (const title of [
    'Votes',
    'Success rate',
    'Half arrive within',
    'Players online on average',
    'Servers listed',
  ])
    expect(body).toContain(`aria-label="${title} a day, 7 days, and the 7 days before"`);
  const months = (await figures('?days=364')).body;
  expect(months).toContain('aria-label="Sign-ups a week, 12 months"');
  expect(Buffer.byteLength(months)).toBeLessThan(200_000);
  expect(Buffer.byteLength(body)).toBeLessThan(100_000);

  const file = await figures('.csv');
  expect(file.headers['content-disposition']).toBe('attachment; filename="figures.csv"');
  const lines = file.body.split('\r\n');
  expect(lines).toHaveLength(32);
  expect(lines[0]).toMatch(/^\ufeffday,servers,servers_added,servers_removed,players_average,votes_page,/);
  const yesterday = addDays(dayOf(web.deps.clock.now()), -1);
  expect(lines.at(-3)).toMatch(new RegExp(`^${yesterday},19,1,0,123.4,0,200,0,0,0.5,,,50,`));
});

it('a change that rounds to nothing is not shown, and others have the sign of their direction', () => {
  const figureOf = (column: string) => FIGURES.find((figure) => figure.column === column) as Figure;
  const shares = figureOf('success_rate');
  expect(changeOf(shares, 0.9703, 0.97)).toBe('');
  expect(changeOf(shares, 0.97, 0.9703)).toBe('');
  expect(changeOf(shares, 0.9706, 0.97)).toBe('+0.1 points');
  const servers = figureOf('servers');
  expect(changeOf(servers, 10_004, 10_000)).toBe('');
  expect(changeOf(servers, 9_996, 10_000)).toBe('');
  expect(changeOf(servers, 9_994, 10_000)).toBe('−0.1 %');
});

it('an operator is told when the figures are late', async () => {
  await web.deps.siteFigures.deleteMany({});
  await addSiteDay(0, { countedAt: after(web.deps.clock.now(), -3 * HOUR) });
  expect(wordsOf((await figures()).body)).toContain(
    'The figures were last counted 3 hours ago. Check that the scheduler and a worker with the queue count-figures run.',
  );
});
