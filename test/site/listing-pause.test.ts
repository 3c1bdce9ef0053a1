import type { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addFavourite, noteUsername } from '../../src/favourites/favourites.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { exportAccount } from '../../src/workflows/export-account.ts';
import { pauseListing } from '../../src/workflows/pause-listing.ts';
import { JavaServer } from '../support/fake-game-servers.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { storedVote } from '../support/votes.ts';
import { getPage, sendForm, textOf } from '../support/web-app.ts';
import { type OwnerApp, openOwnerApp } from './owner-fixture.ts';

let web: OwnerApp;
let owner: SignedInUser;
let serverId: ObjectId;

beforeAll(async () => {
  web = await openOwnerApp({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
});

beforeEach(async () => {
  owner = await signIn(web);
  serverId = await addOwnedServer(web.deps, owner.userId);
});

const path = () => `/dashboard/servers/${serverId.toHexString()}`;
const page = async (part: string, headers = owner.headers) =>
  textOf((await getPage(web, part, headers)).body);
const server = () => web.deps.servers.findOne({ _id: serverId });
const shown = async () => (await server())?.listingPause?.at.toISOString() ?? '';
const post = async (part: string, fields: Record<string, string> = {}, headers = owner.headers) =>
  sendForm(web, `${path()}/settings/pause${part}`, { shown: await shown(), ...fields }, headers);
const inDays = (days: number) => dayOf(after(web.deps.clock.now(), days * DAY));

describe('the card “Listing pause” of the settings', () => {
  it('pauses with a date and a sentence, shows it on every page of the server, and ends it', async () => {
    expect(await page(`${path()}/settings`)).toContain('Begin the pause');
    const until = inDays(9);
    const begun = await post('', { until, text: 'The <i>season</i> is over' });
    expect(begun.headers.location).toBe(`${path()}/settings?done=paused`);
    expect((await server())?.listingPause).toMatchObject({
      until: new Date(until),
      text: 'The <i>season</i> is over',
    });
    for (const part of ['', '/settings', '/votes', '/goal'])
      expect(await page(`${path()}${part}`)).toContain('Change or end the pause');
    const settings = await getPage(web, `${path()}/settings`, owner.headers);
    expect(settings.body).toContain(`value="${until}"`);
    expect(settings.body).toContain('The &lt;i&gt;season&lt;/i&gt; is over');
    expect(await page('/dashboard')).toContain('The server is paused here.');
    expect(textOf((await getPage(web, `${path()}/settings?lang=de`, owner.headers)).body)).toContain(
      'Pause des Eintrags',
    );

    expect((await post('', { until: '', text: '' })).headers.location).toBe(
      `${path()}/settings?done=pause-changed`,
    );
    expect((await server())?.listingPause).toEqual({ at: expect.any(Date) });
    const old = { shown: await shown(), until: '', text: '' };
    expect((await post('/end')).headers.location).toBe(`${path()}/settings?done=resumed`);
    // An old tab begins no pause.
    expect((await post('', old)).statusCode).toBe(409);
    expect((await server())?.listingPause).toBeUndefined();
    expect(await page(`${path()}/settings`)).not.toContain('Change or end the pause');
  });

  it.each([
    ['a day in the past', { until: '2020-01-01', text: '' }, 'The date of return must be later than now'],
    ['no day', { until: 'soon', text: '' }, 'ust be a day such as 2026-11-20'],
    ['a long sentence', { until: '', text: 'x'.repeat(201) }, 'must have at most 200 characters'],
  ])('shows a form with %s again', async (_what, fields, sentence) => {
    const answer = await post('', fields);
    expect(answer.statusCode).toBe(400);
    expect(textOf(answer.body)).toContain(sentence);
    expect((await server())?.listingPause).toBeUndefined();
  });

  it('says before and after the press why no pause can begin', async () => {
    const offline = {
      'probe.status': 'offline',
      'probe.checkedAt': new Date(),
      'probe.offlineSince': new Date(),
    };
    await web.deps.servers.updateOne({ _id: serverId }, { $set: { game: 'minecraft', ...offline } as never });
    expect(await page(`${path()}/settings`)).toContain('A pause cannot begin while the server is offline');
    const answer = await post('', { until: '', text: '' });
    expect(answer.statusCode).toBe(409);
    expect(textOf(answer.body)).toContain('this downtime counts');
  });

  it('is for the owner and full members: not for readers, not for strangers', async () => {
    const other = await signIn(web);
    expect((await post('', { until: '', text: '' }, other.headers)).statusCode).toBe(404);
    const member = { userId: other.userId, role: 'read' as const, at: new Date() };
    await web.deps.servers.updateOne({ _id: serverId }, { $set: { members: [member] } });
    for (const part of ['', '/end', '/check'])
      expect((await post(part, { until: '', text: '' }, other.headers)).statusCode).toBe(403);
  });

  it('ends the pause after a check that the server answers, and not before', async () => {
    const gameServer = new JavaServer();
    await gameServer.start();
    await web.deps.servers.updateOne(
      { _id: serverId },
      { $set: { game: 'minecraft', address: '127.0.0.1', port: gameServer.port } },
    );
    await post('', { until: '', text: '' });
    await gameServer.stop();
    const silent = await post('/check');
    expect(silent.statusCode).toBe(409);
    expect(textOf(silent.body)).toContain('The server did not answer at its address, so the pause goes on.');
    await gameServer.start();
    await web.deps.servers.updateOne({ _id: serverId }, { $set: { port: gameServer.port } });
    expect((await post('/check')).headers.location).toBe(`${path()}/settings?done=resumed`);
    expect((await server())?.listingPause).toBeUndefined();
    await gameServer.stop();
  });
});

describe('a pause shows', () => {
  beforeEach(async () => {
    await pauseListing(web.deps, serverId, { text: 'Moving' }, owner.email);
  });

  it('to operators, who can end it', async () => {
    const operator = await signIn(web, { role: 'operator' });
    const at = `/operator/servers/${serverId.toHexString()}`;
    expect(await page(at, operator.headers)).toMatch(/This server has been paused since .+Moving/);
    const ended = await sendForm(web, `${at}/resume`, {}, operator.headers);
    expect(ended.headers.location).toBe(`${at}?done=resumed`);
    expect((await sendForm(web, `${at}/resume`, {}, operator.headers)).statusCode).toBe(409);
    const { by } = (await web.deps.auditLog.findOne({ serverId, action: 'pause.end' })) ?? {};
    expect(by).toBe(operator.email);
    expect(await page(`/operator/audit?server=${serverId.toHexString()}`, operator.headers)).toContain(
      'Ended the pause of the listing',
    );
  });

  it('among favourites, which do not ask for a vote', async () => {
    await addFavourite(web.deps, owner.userId, serverId);
    await noteUsername(web.deps, owner.userId, 'Steve');
    const favourites = await page('/favourites');
    expect(favourites).toContain('paused');
    expect(favourites).toContain('no votes in a pause');
    expect((await getPage(web, '/', owner.headers)).body).not.toContain('/vote?username=Steve');
  });

  it('in the export of the account', async () => {
    const user = await web.deps.users.findOne({ _id: owner.userId });
    let text = '';
    for await (const part of exportAccount(web.deps, user as never)) text += part;
    const [exported] = JSON.parse(text).servers;
    expect(exported.pause).toMatchObject({ text: 'Moving', at: expect.any(String) });
  });

  it('in the result of an earlier vote, without a reminder for a time in the pause', async () => {
    const { insertedId } = await web.deps.votes.insertOne(
      storedVote(serverId, 'Steve', after(web.deps.clock.now(), -HOUR)),
    );
    const slug = (await server())?.slug;
    const result = await getPage(web, `/servers/${slug}/vote/${insertedId.toString()}`);
    expect(result.statusCode).toBe(200);
    expect(textOf(result.body)).toContain('Your vote counts');
    expect(result.body).not.toContain('reminder.ics');
  });
});
