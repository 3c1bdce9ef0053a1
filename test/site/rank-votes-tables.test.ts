import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { unusualFigures } from '../../src/moderation/needs-attention.ts';
import { addDays, dayOf, markDone, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import { NOTHING } from '../history/samples.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { storedVote } from '../support/votes.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let owner: SignedInUser;
let operator: SignedInUser;
let bought: ObjectId;
let honest: ObjectId;

/** Yesterday, 500 new names voted for a server with at most 12 players, and 20 for another server. */
beforeAll(async () => {
  web = await openWebApp();
  owner = await signIn(web);
  operator = await signIn(web, { role: 'operator' });
  const { deps } = web;
  bought = await addOwnedServer(deps, owner.userId, { name: 'Bought' });
  honest = await addOwnedServer(deps, owner.userId, { name: 'Honest', port: 25_566 });
  const yesterday = addDays(dayOf(deps.clock.now()), -1);
  await markDone(deps, 'weigh-votes', addDays(yesterday, -3));
  for (const [serverId, votes] of [
    [bought, 500],
    [honest, 20],
  ] as const) {
    const probes = { ...NOTHING, onlineSeconds: 86_400, peakPlayers: 12 };
    const stats = { _id: new ObjectId(), serverId, day: yesterday, probes, reports: NOTHING };
    await deps.dailyStats.insertOne(stats);
    const at = startOfDay(yesterday);
    await deps.votes.insertMany(
      Array.from({ length: votes }, (_, i) => storedVote(serverId, `name${i}`, at, { source: 'web' })),
    );
    await recountVotes(deps, serverId, [yesterday]);
  }
  await recomputeRanks(deps);
});

const GERMAN = { 'accept-language': 'de' };

test('the ranking and a server’s page show the votes and their weights', async () => {
  const ranking = textOf((await getPage(web, '/')).body);
  expect(ranking).toMatch(/Bought.*500 votes 44\.4 for the rank/);
  expect(ranking).not.toMatch(/20 votes 20 for the rank/);
  const { slug = '' } = (await web.deps.servers.findOne({ _id: bought })) ?? {};
  expect(textOf((await getPage(web, `/servers/${slug}`)).body)).toMatch(
    /Votes in 30 days 500\s+44\.4 for the rank/,
  );
});

test('the page on the ranking states the rules and explains a rank by them, in both languages', async () => {
  const page = textOf((await getPage(web, '/how-ranking-works?server=bought')).body);
  expect(page).toContain('What a vote weighs');
  expect(page).toContain('From one network they count as 8, from 500 networks as 44.4.');
  expect(page).toMatch(
    /Bought has rank 1 of 2\. It had 500 votes at .* For the rank they weigh 44\.4 \( why \)/,
  );
  const german = textOf((await getPage(web, '/how-ranking-works?server=bought', GERMAN)).body);
  expect(german).toContain('Was eine Stimme wiegt');
  expect(german).toContain('Für den Rang wiegen sie 44,4 ( warum )');
});

test('the owner sees how many votes count for the rank, and why the others do not', async () => {
  const path = (serverId: ObjectId) => `/dashboard/servers/${serverId.toHexString()}/statistics`;
  const page = textOf((await getPage(web, path(bought), owner.headers)).body);
  expect(page).toContain('The 500 votes of the last 30 days count as 44.4 for the rank.');
  expect(page).toMatch(/More new names voted on a day than 3 for each player[^.]*\. 84 /);
  expect(page).toMatch(/until an operator allows them\. 380 /);
  expect(page).toMatch(/500 44\.4 12 84 of new names, 380 waiting for an operator/);
  const german = textOf((await getPage(web, path(bought), { ...owner.headers, ...GERMAN })).body);
  expect(german).toContain('Die 500 Stimmen der letzten 30 Tage zählen für den Rang als 44,4 .');
  expect(german).toContain('84 von neuen Namen, 380 warten auf einen Betreiber');
  expect(textOf((await getPage(web, path(honest), owner.headers)).body)).toContain(
    'All votes of the last 30 days count in full for the rank.',
  );
  const file = await getPage(web, `${path(bought)}/votes.csv`, owner.headers);
  expect(file.body.split('\r\n')[0]).toBe('\u{feff}day,votes');
});

test('one press in the inbox allows the votes that wait or leaves them, and one takes it back', async () => {
  const { deps } = web;
  const inbox = '/operator?tab=figures';
  const page = await getPage(web, inbox, operator.headers);
  expect(textOf(page.body)).toMatch(
    /In 30 days 500 votes On a usual day 500 On the busiest day 500 Waiting 380 Allow 1,000 a day/,
  );
  const server = bought.toHexString();
  const send = (what: string, fields: Record<string, string>, by = operator) =>
    sendForm(web, `/operator/attention/${what}`, { server, ...fields }, by.headers);
  for (const fields of [{ votes: '1000', before: '0' }, { left: 'yes' }] as Record<string, string>[]) {
    const what = fields.left ? 'leave-votes' : 'allow-votes';
    expect((await send(what, fields, owner)).statusCode).toBeGreaterThanOrEqual(400);
    const removed = await send(what, { ...fields, server: new ObjectId().toHexString() });
    expect([404, 409]).toContain(removed.statusCode);
  }
  expect((await send('allow-votes', { votes: '-1', before: '0' })).statusCode).toBe(400);

  const { headers } = await send('allow-votes', { votes: '1000', before: '0' });
  expect(headers.location).toBe(`/operator?tab=figures&done=allowed&server=${server}&before=0`);
  const allowed = await getPage(web, String(headers.location), operator.headers);
  expect(textOf(allowed.body)).toContain(
    'Bought : 1,000 votes a day need no evidence, until you change that.',
  );
  expect(textOf(allowed.body)).toContain('1,000 a day are allowed.');
  expect(allowed.body).toMatch(/name="votes" value="0"[\s\S]*Undo/);
  // The same press again changes nothing; an undo after another operator's decision is refused.
  expect((await send('allow-votes', { votes: '1000', before: '0' })).statusCode).toBe(303);
  await deps.servers.updateOne({ _id: bought }, { $set: { 'voteAllowance.votes': 700 } });
  expect((await send('allow-votes', { votes: '0', before: '1000' })).statusCode).toBe(409);
  await send('allow-votes', { votes: '0', before: '700' });
  expect((await deps.servers.findOne({ _id: bought }))?.voteAllowance).toMatchObject({ votes: 0 });

  const left = await send('leave-votes', { left: 'yes' });
  const gone = textOf((await getPage(web, String(left.headers.location), operator.headers)).body);
  expect(gone).toContain('Bought : its votes go on waiting. The inbox does not show it for 30 days. Undo');
  expect((await unusualFigures(deps)).waitingVotes.rows).toEqual([]);
  await send('leave-votes', { left: 'no' });
  await recomputeRanks(deps);
  expect((await unusualFigures(deps)).waitingVotes.rows).toHaveLength(1);
});

test('votes that wait need an operator’s attention, and one decision counts them', async () => {
  const { deps } = web;
  const { waitingVotes } = await unusualFigures(deps);
  expect(waitingVotes.rows).toMatchObject([{ server: { name: 'Bought' }, waiting: 380, votesCount: 500 }]);
  expect(textOf((await getPage(web, '/operator', operator.headers)).body)).toContain(
    'Votes of Bought that wait in the ranking',
  );
  const path = `/operator/servers/${bought.toHexString()}`;
  expect(textOf((await getPage(web, path, operator.headers)).body)).toContain('500 (44.4 for the rank)');

  const refused = await sendForm(
    web,
    `${path}/allow-votes`,
    { votes: '-1', allowReason: '' },
    operator.headers,
  );
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('must be 0 or more');
  const by = { votes: '600', allowReason: 'A streamer played here.' };
  expect((await sendForm(web, `${path}/allow-votes`, by, owner.headers)).statusCode).toBeGreaterThanOrEqual(
    400,
  );
  const { headers } = await sendForm(web, `${path}/allow-votes`, by, operator.headers);
  expect(headers.location).toContain('done=votes-allowed');
  await recomputeRanks(deps);
  expect((await unusualFigures(deps)).waitingVotes.rows).toEqual([]);
  expect((await deps.servers.findOne({ _id: bought }))?.ranked).not.toHaveProperty('rankVotes');
  const page = textOf((await getPage(web, path, operator.headers)).body);
  expect(page).toContain('600 votes a day need no evidence: “ A streamer played here. ”');
  expect(await deps.auditLog.findOne({ action: 'rank.allow' })).toMatchObject({ by: operator.email });
});
