import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { minuteOf } from '../../src/site/admin/utc-fields.ts';
import { finishExclusion } from '../../src/votes/exclude-votes.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { ageVotes } from '../support/votes.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';
import { accept } from '../votes/voting.ts';

let web: WebApp;
let operator: SignedInUser;
let serverId: ObjectId;
let tokenId: ObjectId;

beforeAll(async () => {
  web = await openWebApp();
});
beforeEach(async () => {
  operator = await signIn(web, { role: 'operator' });
  serverId = await addOwnedServer(web.platform, operator.userId);
  tokenId = new ObjectId((await issueToken(web.platform, { serverId, name: 'Voting plugin' })).tokenId);
});

const page = (query: Record<string, string>, path = '') =>
  getPage(web, `/operator/votes${path}?${new URLSearchParams(query)}`, operator.headers);
const cast = (username: string, by = tokenId) => accept(web.platform, { serverId, username, tokenId: by });
/** Moves all votes one hour into the past. */
const age = () => ageVotes(web.platform, serverId, HOUR);
const hoursAgo = (hours: number) => minuteOf(after(web.platform.clock.now(), -hours * HOUR));
const names = (body: string) =>
  [...body.matchAll(/<th scope="row" data-title="Player"><div><bdi>([^<]*)/g)].map(([, name]) => name);

test('votes are found by player, id, token and time', async () => {
  const { vote } = await cast('Steve');
  await cast('Alex', new ObjectId());
  const server = serverId.toHexString();
  expect(names((await page({ server })).body)).toEqual(['Alex', 'Steve']);
  expect(names((await page({ server, player: ' sTEVE ' })).body)).toEqual(['Steve']);
  expect(names((await page({ server, player: vote._id.toString() })).body)).toEqual(['Steve']);
  expect(names((await page({ server, token: tokenId.toHexString() })).body)).toEqual(['Steve']);
  expect(names((await page({ server, until: hoursAgo(1) })).body)).toEqual([]);
  expect(names((await page({ server, since: hoursAgo(1) })).body)).toEqual(['Alex', 'Steve']);
  expect((await page({ server: 'nothing-here' })).body).toContain('No server has this id or slug.');
  expect((await page({ server, since: 'yesterday' })).statusCode).toBe(400);
  expect((await page({ server, since: hoursAgo(1), until: hoursAgo(2) })).body).toContain(
    'The end must be after the start.',
  );
  expect((await page({ server, token: 'f'.repeat(24) })).body).toContain('The server has no such token.');
});

test('votes are shown page by page, also those with the same time', async () => {
  for (let i = 0; i < 120; i++) await cast(`P${i}`);
  const same = web.platform.clock.now();
  await web.platform.votes.updateMany(
    { serverId, usernameKey: /^p[0-9]$|^p[1-8][0-9]$/ },
    { $set: { votedAt: same } },
  );
  const seen: (string | undefined)[] = [];
  let query: Record<string, string> | undefined = { server: serverId.toHexString() };
  let pages = 0;
  while (query) {
    const { body } = await page(query);
    seen.push(...names(body));
    pages += 1;
    const next: string | undefined = /href="\/operator\/votes\?([^"]*)" rel="next"/.exec(body)?.[1];
    query = next ? Object.fromEntries(new URLSearchParams(next.replaceAll('&amp;', '&'))) : undefined;
  }
  expect(pages).toBe(3);
  expect(new Set(seen).size).toBe(120);
  expect(seen).toHaveLength(120);
});

/** The hidden fields of the exclusion form. */
function fieldsOf(body: string): Record<string, string> {
  return Object.fromEntries(
    [...body.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
}

test('an exclusion shows the affected votes, is applied once by a worker, and can be undone', async () => {
  const { platform } = web;
  for (const name of ['One', 'Two', 'Three']) await cast(name);
  await cast('Honest', new ObjectId());
  await age();
  const range = { server: serverId.toHexString(), since: hoursAgo(2), token: tokenId.toHexString() };
  expect((await page(range)).body).toContain('Exclude these votes…');
  // Without a start time, or with a player, the page says what an exclusion needs.
  for (const other of [{ server: range.server }, { ...range, player: 'One' }]) {
    const { body } = await page(other);
    expect(body).not.toContain('Exclude these votes…');
    expect(body).toContain('To exclude votes, search with a start time');
  }
  expect((await page(range)).body).not.toContain('To exclude votes,');
  const preview = (await page(range, '/exclude')).body;
  expect(preview).toContain('Exclude 3 votes');
  expect(await platform.voteExclusions.countDocuments({ serverId })).toBe(0);

  const fields = fieldsOf(preview);
  const send = (reason: string) =>
    sendForm(web, '/operator/votes/exclude', { ...fields, reason }, operator.headers);
  const refused = await send(' ');
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('The reason must say why.');
  const [sent, again] = await Promise.all([send('Bought'), send('Bought')]);
  expect([sent?.statusCode, again?.statusCode]).toEqual([303, 303]);
  const [exclusion, ...others] = await platform.voteExclusions.find({ serverId }).toArray();
  expect(others).toEqual([]);
  expect(exclusion).toMatchObject({ state: 'excluding', by: operator.email, reason: 'Bought', tokenId });
  expect((await page({ server: range.server })).body).toContain('in progress');
  const jobs = await platform.queues['exclude-votes'].getJobs();
  expect(jobs.map(({ data }) => data)).toEqual([{ exclusionId: exclusion?._id.toHexString() }]);
  expect(await platform.auditLog.countDocuments({ action: 'vote.exclude', by: operator.email })).toBe(1);

  const id = exclusion?._id ?? new ObjectId();
  await finishExclusion(platform, id, { settledMs: 0 });
  expect((await voteFigures(platform, serverId)).allTimeVotes).toBe(1);
  expect((await page({ server: range.server })).body).toMatch(/excluded<\/span> 3 votes/);

  const undo = await sendForm(
    web,
    `/operator/votes/exclusions/${id}/undo`,
    { list: 'server' },
    operator.headers,
  );
  expect(undo.headers.location).toBe(`/operator/votes?server=${range.server}&done=including#exclusions`);
  await finishExclusion(platform, id, { settledMs: 0 });
  expect((await voteFigures(platform, serverId)).allTimeVotes).toBe(4);
  expect(await platform.auditLog.countDocuments({ action: 'vote.include', by: operator.email })).toBe(1);
  expect((await page({})).body).toContain('undone');
}, 60_000);

test('an exclusion that is undone while in progress ends as undone', async () => {
  const { platform } = web;
  await cast('One');
  await age();
  const preview = await page({ server: serverId.toHexString(), since: hoursAgo(2) }, '/exclude');
  await sendForm(
    web,
    '/operator/votes/exclude',
    { ...fieldsOf(preview.body), reason: 'x' },
    operator.headers,
  );
  const id = (await platform.voteExclusions.findOne({ serverId }))?._id ?? new ObjectId();
  const running = finishExclusion(platform, id, { settledMs: 0 });
  await sendForm(web, `/operator/votes/exclusions/${id}/undo`, {}, operator.headers);
  await running;
  await finishExclusion(platform, id, { settledMs: 0 });
  expect(await platform.voteExclusions.findOne({ _id: id })).toMatchObject({ state: 'included' });
  expect(await platform.votes.countDocuments({ serverId, excludedAt: { $exists: true } })).toBe(0);
}, 60_000);

test('an invalid exclusion is refused with a message', async () => {
  const server = serverId.toHexString();
  const status = async (query: Record<string, string>) => (await page(query, '/exclude')).statusCode;
  expect(await status({ server })).toBe(400);
  expect(await status({ server: 'nothing', since: hoursAgo(1) })).toBe(404);
  expect(await status({ server, since: hoursAgo(1), token: 'f'.repeat(24) })).toBe(404);
  expect(await status({ server, since: hoursAgo(1), until: hoursAgo(2) })).toBe(400);
  const ahead = minuteOf(after(web.platform.clock.now(), HOUR + MINUTE));
  const preview = await page({ server, since: hoursAgo(1), until: ahead }, '/exclude');
  const late = await sendForm(
    web,
    '/operator/votes/exclude',
    { ...fieldsOf((await page({ server, since: hoursAgo(2) }, '/exclude')).body), reason: 'x', id: 'x' },
    operator.headers,
  );
  expect(late.statusCode).toBe(400);
  expect(preview.statusCode).toBe(200);
  expect(
    (await sendForm(web, `/operator/votes/exclusions/${new ObjectId()}/undo`, {}, operator.headers))
      .statusCode,
  ).toBe(404);
});
