import { ObjectId, UUID } from 'mongodb';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { utcFieldValue } from '../../src/site/admin/admin-fields.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { excludeVotes } from '../support/exclusions.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { ageVotes } from '../support/votes.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';
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
  serverId = await addOwnedServer(web.deps, operator.userId);
  tokenId = new ObjectId((await issueToken(web.deps, { serverId, name: 'Voting plugin' })).tokenId);
});

const page = (query: Record<string, string>, path = '') =>
  getPage(web, `/operator/votes${path}?${new URLSearchParams(query)}`, operator.headers);
const cast = (username: string, by = tokenId) => accept(web.deps, { serverId, username, tokenId: by });
/** Moves all votes one hour into the past. */
const age = () => ageVotes(web.deps, serverId, HOUR);
const hoursAgo = (hours: number) => utcFieldValue(after(web.deps.clock.now(), -hours * HOUR));
const names = (body: string) =>
  [...body.matchAll(/<th scope="row" data-title="Player"><div><a[^>]*><bdi>([^<]*)/g)].map(
    ([, name]) => name,
  );

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
  expect((await page({ server: 'nothing-here' })).body).toContain('No server has this id, slug or name.');
  expect((await page({ server, since: 'yesterday' })).statusCode).toBe(400);
  expect((await page({ server, since: hoursAgo(1), until: hoursAgo(2) })).body).toContain(
    'The end must be after the start.',
  );
  expect((await page({ server, token: 'f'.repeat(24) })).body).toContain('The server has no such token.');
});

test('the list names the token of each vote, or says that it was cast with the vote form', async () => {
  await cast('Steve');
  await cast('Alex', new ObjectId());
  const { votes } = web.deps;
  await votes.updateOne({ serverId, username: 'Alex' }, { $set: { source: 'web' }, $unset: { tokenId: 1 } });
  const { body } = await page({ server: serverId.toHexString() });
  const tokens = [...body.matchAll(/<td data-title="Token"><div>(.*?)<\/div>/g)].map(([, cell = '']) =>
    cell.replace(/<[^>]*>/g, ''),
  );
  expect(tokens).toEqual(['the vote form', 'Voting plugin']);
});

test('votes are shown page by page, also those with the same time', async () => {
  await Promise.all(Array.from({ length: 120 }, (_, i) => cast(`P${i}`)));
  const same = web.deps.clock.now();
  await web.deps.votes.updateMany(
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
  const { deps } = web;
  for (const name of ['One', 'Two', 'Three']) await cast(name);
  await cast('Honest', new ObjectId());
  await age();
  const range = { server: serverId.toHexString(), since: hoursAgo(2), token: tokenId.toHexString() };
  expect((await page(range)).body).toContain('Exclude these votes…');
  // Without a start time and without a player, the page says what an exclusion needs.
  const { body } = await page({ server: range.server });
  expect(body).not.toContain('Exclude these votes…');
  expect(body).toContain('To exclude votes, search with a start time or for one player.');
  expect((await page({ ...range, player: 'One' })).body).toContain('Exclude this player’s votes…');
  expect((await page(range)).body).not.toContain('To exclude votes,');
  const preview = (await page(range, '/exclude')).body;
  expect(preview).toContain('Exclude 3 votes');
  expect(await deps.voteExclusions.countDocuments({ serverId })).toBe(0);

  const fields = fieldsOf(preview);
  const send = (reason: string) =>
    sendForm(web, '/operator/votes/exclude', { ...fields, reason }, operator.headers);
  const refused = await send(' ');
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('The reason must say why.');
  const [sent, again] = await Promise.all([send('Bought'), send('Bought')]);
  expect([sent?.statusCode, again?.statusCode]).toEqual([303, 303]);
  const [exclusion, ...others] = await deps.voteExclusions.find({ serverId }).toArray();
  expect(others).toEqual([]);
  expect(exclusion).toMatchObject({ state: 'excluding', by: operator.email, reason: 'Bought', tokenId });
  expect((await page({ server: range.server })).body).toContain('in progress');
  const jobs = await deps.queues['exclude-votes'].getJobs();
  expect(jobs.map(({ data }) => data)).toEqual([{ exclusionId: exclusion?._id.toHexString() }]);
  expect(await deps.auditLog.countDocuments({ action: 'vote.exclude', by: operator.email })).toBe(1);

  const id = exclusion?._id ?? new ObjectId();
  await finishExclusion(deps, id, { settledMs: 0 });
  expect((await voteFigures(deps, serverId)).allTimeVotes).toBe(1);
  expect((await page({ server: range.server })).body).toMatch(/excluded<\/span> 3 votes/);

  const undo = await sendForm(
    web,
    `/operator/votes/exclusions/${id}/undo`,
    { list: 'server' },
    operator.headers,
  );
  expect(undo.headers.location).toBe(`/operator/votes?server=${range.server}&done=including#exclusions`);
  await finishExclusion(deps, id, { settledMs: 0 });
  expect((await voteFigures(deps, serverId)).allTimeVotes).toBe(4);
  expect(await deps.auditLog.countDocuments({ action: 'vote.include', by: operator.email })).toBe(1);
  expect((await page({})).body).toContain('undone');
}, 60_000);

test('an exclusion that is undone while in progress ends as undone', async () => {
  const { deps } = web;
  await cast('One');
  await age();
  const preview = await page({ server: serverId.toHexString(), since: hoursAgo(2) }, '/exclude');
  await sendForm(
    web,
    '/operator/votes/exclude',
    { ...fieldsOf(preview.body), reason: 'x' },
    operator.headers,
  );
  const id = (await deps.voteExclusions.findOne({ serverId }))?._id ?? new ObjectId();
  const running = finishExclusion(deps, id, { settledMs: 0 });
  await sendForm(web, `/operator/votes/exclusions/${id}/undo`, {}, operator.headers);
  await running;
  await finishExclusion(deps, id, { settledMs: 0 });
  expect(await deps.voteExclusions.findOne({ _id: id })).toMatchObject({ state: 'included' });
  expect(await deps.votes.countDocuments({ serverId, excludedAt: { $exists: true } })).toBe(0);
}, 60_000);

test('an invalid exclusion is refused with a message', async () => {
  const server = serverId.toHexString();
  const status = async (query: Record<string, string>) => (await page(query, '/exclude')).statusCode;
  expect(await status({ server })).toBe(400);
  expect(await status({ server: 'nothing', since: hoursAgo(1) })).toBe(404);
  expect(await status({ server, since: hoursAgo(1), token: 'f'.repeat(24) })).toBe(404);
  expect(await status({ server, since: hoursAgo(1), until: hoursAgo(2) })).toBe(400);
  const ahead = utcFieldValue(after(web.deps.clock.now(), HOUR + MINUTE));
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

test('votes are found by the name of a server; several servers of one name are a choice', async () => {
  const { deps } = web;
  const name = `Twin ${serverId.toHexString().slice(-6)}`;
  const twins = [
    await addOwnedServer(deps, operator.userId, { name }),
    await addOwnedServer(deps, operator.userId, { name, address: 'twin.example.net' }),
  ];
  const alone = await addOwnedServer(deps, operator.userId, { name: `Lonely & ${name.slice(5)}` });
  for (const id of [...twins, alone]) await accept(deps, { serverId: id, username: 'Steve', tokenId: null });
  const choice = (await page({ server: name.toUpperCase(), player: 'Steve' })).body;
  expect(choice).toContain('Which server?');
  for (const id of twins)
    expect(choice).toContain(`/operator/votes?server=${id.toHexString()}&amp;player=Steve`);
  expect(names(choice)).toEqual([]);
  expect(names((await page({ server: `Lonely & ${name.slice(5)}` })).body)).toEqual(['Steve']);
  // If only one server matches a part of the name, that part is enough.
  expect(names((await page({ server: `nely & ${name.slice(5)}` })).body)).toEqual(['Steve']);
  await deps.servers.updateOne({ _id: alone }, { $set: { removedAt: new Date() } });
  expect(names((await page({ server: `Lonely & ${name.slice(5)}` })).body)).toEqual(['Steve']);
});

test('a row opens the vote with its timeline, which shows an operator the internal reason', async () => {
  const { deps } = web;
  const name = '<script>alert(1)</script>';
  const { vote } = await cast(name);
  await age();
  const list = (await page({ server: serverId.toHexString() })).body;
  expect(list).toContain(`href="/operator/votes/${vote._id}"`);
  expect((await page({ player: vote._id.toString() })).headers.location).toBe(`/operator/votes/${vote._id}`);
  const exclusion = {
    serverId,
    since: new Date(0),
    until: new Date(),
    tokenId: null,
    reason: 'secret & why',
  };
  await excludeVotes(deps, exclusion, operator.email, { settledMs: 0 });
  const { body } = await getPage(web, `/operator/votes/${vote._id}`, operator.headers);
  expect(body).not.toContain('<script>alert');
  for (const words of ['Voting plugin', 'Accepted', 'secret &amp; why', operator.email, 'no: excluded'])
    expect(body).toContain(words);
  for (const id of ['nothing', new UUID().toString()])
    expect((await getPage(web, `/operator/votes/${id}`, operator.headers)).statusCode).toBe(404);
}, 60_000);

test('the page of a waiting vote says that a delivery queue is paused', async () => {
  const { deps } = web;
  const settings = { host: '127.0.0.1', port: 8_192, secret: 'a'.repeat(26), serviceName: 'Tallyport' };
  await setListener(deps, serverId, { protocol: 'votifier-v2', ...settings }, 'test');
  const { vote } = await cast('Steve');
  const shown = async () =>
    textOf((await getPage(web, `/operator/votes/${vote._id}`, operator.headers)).body);
  expect(await shown()).not.toContain('paused');
  await deps.queues['forward-votes'].pause();
  onTestFinished(() => deps.queues['forward-votes'].resume());
  const paused = await shown();
  expect(paused).toContain('the operator of this listing has paused vote delivery for all servers');
  expect(paused).toContain(
    'A delivery queue is paused: votes may wait until it is resumed on the queue board',
  );
});

test('one player is excluded on all servers after a preview, and the exclusion is undone', async () => {
  const { deps } = web;
  const player = `Bot${serverId.toHexString().slice(-6)}`;
  const other = await addOwnedServer(deps, operator.userId, { name: 'Another' });
  await cast(player);
  await cast('Honest');
  await accept(deps, { serverId: other, username: player.toUpperCase(), tokenId: null });
  for (const id of [serverId, other]) await ageVotes(deps, id, HOUR);
  const found = (await page({ player })).body;
  expect(found).toContain('Exclude this player’s votes…');
  const preview = (await page({ player }, '/exclude-player')).body;
  expect(preview).toContain('2 votes on 2 servers');
  const fields = fieldsOf(preview);
  const send = (reason: string) =>
    sendForm(web, '/operator/votes/exclude-player', { ...fields, reason }, operator.headers);
  expect((await send(' ')).body).toContain('The reason must say why.');
  const answers = await Promise.all([send('A bot'), send('A bot')]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303]);
  const exclusions = await deps.voteExclusions.find({ usernameKey: player.toLowerCase() }).toArray();
  expect(exclusions).toHaveLength(2);
  for (const { _id } of exclusions) await finishExclusion(deps, _id, { settledMs: 0 });
  const total = async (id: ObjectId) => (await voteFigures(deps, id)).allTimeVotes;
  expect([await total(serverId), await total(other)]).toEqual([1, 0]);

  const groupId = exclusions[0]?.groupId?.toHexString();
  expect((await page({})).body).toContain(`/operator/votes/exclusions/players/${groupId}/undo`);
  const undo = () =>
    sendForm(web, `/operator/votes/exclusions/players/${groupId}/undo`, {}, operator.headers);
  expect([(await undo()).statusCode, (await undo()).statusCode]).toEqual([303, 303]);
  for (const { _id } of exclusions) await finishExclusion(deps, _id, { settledMs: 0 });
  expect([await total(serverId), await total(other)]).toEqual([2, 1]);
  expect(
    (await sendForm(web, `/operator/votes/exclusions/players/${new ObjectId()}/undo`, {}, operator.headers))
      .statusCode,
  ).toBe(404);
  expect((await page({ player: 'x'.repeat(60) }, '/exclude-player')).statusCode).toBe(400);
}, 60_000);
