import { Worker } from 'bullmq';
import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { hideServer } from '../../src/servers/moderate-server.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { playerHash } from '../../src/votes/web/origin-keys.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, OWN_ORIGIN, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let operator: SignedInUser;
let alpha: ObjectId;
let beta: ObjectId;

beforeAll(async () => {
  web = await openWebApp();
  operator = await signIn(web, { role: 'operator' });
  const owner = await signIn(web);
  alpha = await addOwnedServer(web.deps, owner.userId, { name: 'Alpha Craft', address: 'a.example.org' });
  beta = await addOwnedServer(web.deps, owner.userId, { name: 'Beta Craft', address: 'b.example.org' });
});

const ORIGIN = 'aHashOfANetwork-012345';
const SEEN = '2026-11-29T10:00:00.000Z';
const REASON = 'One network voted as more than 6 new players in a day.';

beforeEach(async () => {
  const { voteExclusions, blocks, votes, reviews, complaints, voteOrigins, auditLog } = web.deps;
  for (const each of [voteExclusions, blocks, votes, reviews, complaints, voteOrigins, auditLog])
    await (each as typeof votes).deleteMany({});
  await web.deps.servers.updateMany({}, { $unset: { isUnseen: '' }, $set: { hiddenAt: null } });
});

async function hold(serverId: ObjectId, username: string): Promise<ObjectId> {
  const quarantineId = await openQuarantine(web.deps, serverId, REASON, { cause: 'network', origin: ORIGIN });
  await castVote(web.deps, { serverId, username, tokenId: null, quarantineId });
  return quarantineId;
}

const page = async (tab: string, more = '') =>
  (await getPage(web, `/operator?tab=${tab}${more}`, operator.headers)).body;
/** Sends a form of the inbox; the page to which it leads. */
async function resultOf(path: string, fields: Record<string, string>, by = operator): Promise<string> {
  const { statusCode, headers } = await sendForm(web, `/operator/attention/${path}`, fields, by.headers);
  expect(statusCode, path).toBe(303);
  return (await getPage(web, String(headers.location), by.headers)).body;
}
const press = async (path: string, fields: Record<string, string>) => textOf(await resultOf(path, fields));
/** The hidden fields of the form with a button. */
function fieldsOf(body: string, text: string): Record<string, string> {
  const form = body.split('<form').find((one) => one.includes(`">${text}<`)) ?? '';
  const [inForm = ''] = form.split('</form');
  const fields = [...inForm.matchAll(/name="(\w+)" value="([^"]*)"/g)];
  const [, reason] = /<textarea [^>]*name="reason"[^>]*>([^<]*)</.exec(inForm) ?? [];
  return {
    ...Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value])),
    ...(reason ? { reason } : {}),
  };
}
const statesOf = async () =>
  (await web.deps.voteExclusions.find().sort({ at: 1 }).toArray()).map(({ state }) => state);

/** Drops the counts, which are cached for ten seconds, as each decision does. */
const countAgain = () =>
  press('servers', { decision: 'accept', item: new ObjectId().toHexString(), seen: SEEN });

describe('the kinds', () => {
  test('have the number of what is to be decided, and the rail says it too', async () => {
    await writeReview(web.deps, { serverId: alpha, username: 'Steve', rating: 3 });
    await countAgain();
    const body = await page('reviews');
    const kinds = textOf(/<nav class="kinds"[\s\S]*?<\/nav>/.exec(body)?.[0] ?? '');
    expect(kinds).toMatch(/All 1 Held votes 0 Reviews 1 Reports 0/);
    expect(body).toMatch(/<a href="\/operator\?tab=held" class="none"/);
    expect(textOf(/<nav class="rail"[\s\S]*?<\/nav>/.exec(body)?.[0] ?? '')).toMatch(
      /Inbox 1 to decide .*Reviews 1 waiting/,
    );
    const other = (await getPage(web, '/operator/tags', operator.headers)).body;
    expect(other).not.toContain('to decide');
  });

  test('are all on the first page, the newest item first; a decision leads back to it', async () => {
    const { reviewId } = await writeReview(web.deps, { serverId: alpha, username: 'Steve', rating: 3 });
    await web.deps.reviews.updateOne({ username: 'Steve' }, { $set: { createdAt: new Date(0) } });
    await hold(beta, 'Bot1');
    await countAgain();
    const { body } = await getPage(web, '/operator', operator.headers);
    const addresses = [...body.matchAll(/<li id="([a-z]+)-\w+" data-item/g)].map(([, kind]) => kind);
    expect(addresses).toEqual(['held', 'reviews']);
    expect(body).toMatch(/id="many-held"[\s\S]*id="many-reviews"/);
    expect(body).toContain('Go on with the set-up');
    expect(await page('reviews')).not.toContain('Go on with the set-up');

    const after = await press('reviews?in=all', { decision: 'approved', item: `${reviewId}-0` });
    expect(after).toContain('The review of Steve is approved.');
    expect(after).toContain('1 vote held for Beta Craft');
  });

  test('show their newest on the first page, and link to the others', async () => {
    for (let n = 0; n < 13; n += 1)
      await writeReview(web.deps, { serverId: alpha, username: `Player${n}`, rating: 3 });
    await countAgain();
    const { body } = await getPage(web, '/operator', operator.headers);
    expect([...body.matchAll(/data-item/g)]).toHaveLength(12);
    expect(textOf(body)).toContain('The newest 12 of Reviews .');
    expect(textOf(body)).toContain('All 13');
  });

  test.each([
    ['held', 'No votes are held.'],
    ['reviews', 'No reviews are waiting.'],
    ['reports', 'No open reports.'],
    ['listeners', 'No listener is down.'],
    ['servers', 'No new servers.'],
    ['figures', 'No figures are unusual.'],
    ['jobs', 'No job has failed.'],
  ])('%s says in one quiet line that it is empty', async (tab, line) => {
    const body = await page(tab);
    expect(textOf(body)).toContain(line);
    expect(body).not.toContain('data-item');
  });
});

describe('held votes', () => {
  test('of a network are one item with the evidence: names and their ages, networks, players seen', async () => {
    const { deps } = web;
    const now = deps.clock.now();
    await castVote(deps, { serverId: alpha, username: 'Regular', tokenId: null });
    const long = after(now, -40 * DAY);
    await deps.votes.updateOne({ serverId: alpha, username: 'Regular' }, { $set: { votedAt: long } });
    for (const name of ['Bot1', 'Bot2', 'Regular']) await hold(alpha, name);
    await hold(beta, 'Bot1');
    const player = (name: string) => ({ serverId: alpha, player: playerHash(deps, name.toLowerCase()) });
    const expiresAt = after(now, 30 * DAY);
    await deps.voteOrigins.insertMany([
      { _id: 'one:2026-11-21', kind: 'network', players: [player('Bot1'), player('Bot2')], expiresAt },
      { _id: 'one:2026-11-22', kind: 'network', players: [player('Bot1')], expiresAt },
      { _id: 'two:2026-11-22', kind: 'network', players: [player('Somebody')], expiresAt },
      { _id: 'user:2026-11-22', kind: 'user', players: [player('Bot2')], expiresAt },
    ]);
    await deps.servers.updateOne(
      { _id: alpha },
      {
        $set: {
          'probe.checkedAt': now,
          'probe.succeededAt': now,
          'probe.status': 'online',
          'current.onlinePlayers': 3,
          'current.playersSource': 'probes',
        },
      },
    );
    const text = textOf(await page('held'));
    expect(text).toContain('4 votes held for 2 servers One network, ');
    expect(text).toContain(REASON);
    expect(text).toContain(
      'Alpha Craft 3 votes. 3 names: 2 new, 1 known for longer. Their networks: 1 of 2 that voted since . Players seen: up to 3.',
    );
    expect(text).toMatch(/Beta Craft 1 vote\. 1 name: 1 new\. Their networks: unknown/);
    expect(text).toMatch(/Names .*Bot1.*Regular/);
  });

  test.each([
    ['Count and deliver all', 'releasing', 'will be counted and delivered'],
    ['Exclude', 'confirming', 'stay out of the counts'],
  ])('“%s” decides about what is shown, once', async (text, state, result) => {
    await hold(alpha, 'Bot1');
    await hold(beta, 'Bot2');
    const fields = fieldsOf(await page('held'), text);
    expect(await press('held', fields)).toContain(`The held votes of 2 servers ${result}`);
    expect(await statesOf()).toEqual([state, state]);
    // The same press again, for example because its answer was lost, has the same result.
    expect(await press('held', fields)).toContain(`The held votes of 2 servers ${result}`);
    const other = await signIn(web, { role: 'operator' });
    const again = textOf(await resultOf('held', fields, other));
    expect(again).toContain('Another operator decided first about 2 quarantines.');
    expect(await web.deps.auditLog.countDocuments({ action: /^vote\./ })).toBe(2);
  });

  test('of one server in two quarantines: the texts count each, and a lift leads to the form that excludes votes', async () => {
    await hold(alpha, 'Bot1');
    await openQuarantine(web.deps, alpha, 'Many.', { cause: 'new-players' });
    const ids = (await web.deps.voteExclusions.find().toArray()).map(({ _id }) => _id.toHexString());
    const decision = { decision: 'lift', seen: new Date().toISOString(), item: ids.join('-') };
    const sent = await sendForm(web, '/operator/attention/held', decision, operator.headers);
    const { body } = await getPage(web, String(sent.headers.location), operator.headers);
    expect(textOf(body)).toContain('The held votes of 1 server will be counted and delivered');
    expect(body).toContain(`/operator/votes/exclude?server=${alpha.toHexString()}&amp;since=`);
    expect(await press('held', decision)).toContain('The held votes of 1 server will be counted');
  });

  test('have no result of a decision that does not exist', async () => {
    const body = await page('held', `&done=lift&group=${new ObjectId().toHexString()}`);
    expect(body).not.toContain('data-result');
  });

  test('that came after the page was opened stay held, and the result says so', async () => {
    await hold(alpha, 'Bot1');
    const fields = fieldsOf(await page('held'), 'Exclude');
    await web.deps.votes.updateMany({}, { $set: { votedAt: new Date(Date.parse(fields.seen ?? '') - 1) } });
    await hold(alpha, 'Bot2');
    const at = new Date(Date.parse(fields.seen ?? '') + 1);
    await web.deps.votes.updateOne({ username: 'Bot2' }, { $set: { votedAt: at } });
    expect(await press('held', fields)).toContain(
      '1 vote came after you opened the page. Later votes stay held, and are back in this list within a minute.',
    );
    for (const { _id } of await web.deps.voteExclusions.find().toArray())
      await finishExclusion(web.deps, _id, { settledMs: -HOUR });
    expect(textOf(await page('held'))).toContain('1 vote held for Alpha Craft');
  });

  test('of several groups are decided together, and undone together', async () => {
    await hold(alpha, 'Bot1');
    await openQuarantine(web.deps, beta, 'Many.', { cause: 'new-players' });
    const body = await page('held');
    const items = [...body.matchAll(/name="item" value="([^"]+)" form="many-held"/g)].map(
      ([, ids = '']) => ids,
    );
    expect(items).toHaveLength(2);
    const { seen = '' } = fieldsOf(body, 'Exclude');
    expect(await press('held', { decision: 'exclude', seen })).toContain('Select the held votes first.');
    const send = (reason: string) => {
      const form = new URLSearchParams({ decision: 'exclude', seen, reason });
      for (const item of items) form.append('item', item);
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        ...OWN_ORIGIN,
        ...operator.headers,
      };
      const url = '/operator/attention/held';
      return web.app.inject({ method: 'POST', url, headers, payload: form.toString() });
    };
    const without = await send(' ');
    expect([without.statusCode, textOf(without.body)]).toEqual([
      400,
      expect.stringContaining('must say why'),
    ]);
    expect(await statesOf()).toEqual(['quarantined', 'quarantined']);
    const sent = await send('Bots');
    const result = (await getPage(web, String(sent.headers.location), operator.headers)).body;
    expect(textOf(result)).toContain('The held votes of 2 servers stay out of the counts');
    expect(await press('held/undo', fieldsOf(result, 'Undo: count and deliver'))).toContain('Undone.');
    expect(await statesOf()).toEqual(['releasing', 'releasing']);
    // The address of the decision's result, opened again.
    expect(
      await page('held', `&done=exclude&group=${fieldsOf(result, 'Undo: count and deliver').group}`),
    ).not.toContain('data-result');
  });

  test('have no loud destructive button: excluding asks for a reason, and a block is behind a question', async () => {
    await hold(alpha, 'Bot1');
    const body = await page('held');
    expect(body).toMatch(/<button class="primary" type="submit">Count and deliver</);
    for (const form of body.split('<form').filter((one) => one.includes('class="danger"')))
      expect(form).toMatch(/<details class="confirm"[\s\S]*class="danger"|^[^<]*action="[^"]*held\/block/);
    expect(textOf(body).indexOf('Block network…')).toBeGreaterThan(0);
    // The reason for which the votes were held is proposed.
    expect(fieldsOf(body, 'Exclude').reason).toBe(REASON);
    await press('held', { ...fieldsOf(body, 'Exclude'), reason: 'Bots', reasonForOwner: 'Not players' });
    expect(await web.deps.voteExclusions.findOne({})).toMatchObject({
      reason: 'Bots',
      reasonForOwner: 'Not players',
    });
  });

  test('are excluded in the list of exclusions by the same rule', async () => {
    const quarantineId = (await hold(alpha, 'Bot1')).toHexString();
    const path = `/operator/votes/exclusions/${quarantineId}/exclude`;
    expect((await getPage(web, '/operator/votes', operator.headers)).body).toContain(`action="${path}"`);
    const send = (fields: Record<string, string>) => sendForm(web, path, fields, operator.headers);
    expect((await send({ reason: ' ' })).statusCode).toBe(400);
    expect(await statesOf()).toEqual(['quarantined']);
    expect((await send({ reason: 'Bots', reasonForOwner: '' })).statusCode).toBe(303);
    expect(await web.deps.voteExclusions.findOne({})).toMatchObject({ state: 'confirming', reason: 'Bots' });
  });

  test('“Block network” blocks once and can be undone; the votes stay held, and the item says that it is blocked', async () => {
    await hold(alpha, 'Bot1');
    const fields = fieldsOf(await page('held'), 'Block for 30 days');
    expect(await press('held/block', fields)).toContain('The network is blocked for 30 days');
    const body = await page('held');
    expect(textOf(body)).toContain('Blocked until');
    expect(await statesOf()).toEqual(['quarantined']);
    const again = await sendForm(web, '/operator/attention/held/block', fields, operator.headers);
    expect([again.statusCode, textOf(again.body)]).toEqual([409, expect.stringContaining('blocked already')]);
    const block = await web.deps.blocks.findOne({});
    const undo = `/operator/blocks/${block?._id.toHexString()}/lift`;
    expect((await sendForm(web, undo, {}, operator.headers)).statusCode).toBe(303);
    expect(await page('held')).toContain('Block network…');
  });
});

describe('reviews', () => {
  const write = async (username: string) =>
    (await writeReview(web.deps, { serverId: alpha, username, rating: 3 })).reviewId;

  test('are the newest first, and one decision leads back to the inbox with an undo', async () => {
    const [first] = [await write('Steve'), await write('Alex')];
    await web.deps.reviews.updateOne({ _id: new ObjectId(first) }, { $set: { createdAt: new Date(0) } });
    const list = await page('reviews');
    expect(textOf(list)).toMatch(/3 stars, Alex Alpha Craft .*3 stars, Steve Alpha Craft/);
    const item = `${first}-0`;
    expect(list).toContain(`id="reviews-${first}"`);
    const without = { decision: 'rejected', item };
    const path = '/operator/attention/reviews';
    expect((await sendForm(web, path, without, operator.headers)).statusCode).toBe(400);
    const sent = await sendForm(web, path, { decision: 'approved', item }, operator.headers);
    expect(sent.headers.location).toBe(`/operator?tab=reviews&done=approved&decided=${item}`);
    const body = (await getPage(web, String(sent.headers.location), operator.headers)).body;
    expect(textOf(body)).toContain('The review of Steve is approved');
    expect(fieldsOf(body, 'Undo')).toMatchObject({ decision: 'undo-approved', item });
  });

  test('that are selected are rejected with one reason, and all come back with one undo', async () => {
    const ids = [await write('Steve'), await write('Alex')];
    const item = ids.map((id) => `${id}-0`).join(' ');
    const path = '/operator/attention/reviews';
    const without = await sendForm(web, path, { decision: 'rejected', item }, operator.headers);
    expect(without.statusCode).toBe(400);
    const sent = await sendForm(
      web,
      path,
      { decision: 'rejected', item, reason: 'Adverts' },
      operator.headers,
    );
    const body = (await getPage(web, String(sent.headers.location), operator.headers)).body;
    expect(textOf(body)).toContain('2 reviews rejected.');
    expect(await web.deps.reviews.countDocuments({ state: 'rejected', rejectedFor: 'Adverts' })).toBe(2);
    expect(await press('reviews', fieldsOf(body, 'Undo'))).toContain('2 reviews waiting again.');
    expect(await web.deps.reviews.countDocuments({ state: 'pending' })).toBe(2);
    // Another operator approves one of them first.
    await web.deps.reviews.updateOne({ _id: new ObjectId(ids[0]) }, { $set: { state: 'approved' } });
    expect(await press('reviews', { decision: 'rejected', item, reason: 'Adverts' })).toContain(
      'is rejected. 1 review changed meanwhile: another operator decided first',
    );
  });
});

describe('new servers', () => {
  test('stay until an operator accepts or hides them; both can be undone and are in the audit log', async () => {
    const { deps } = web;
    await deps.servers.updateMany({}, { $set: { isUnseen: true } });
    const body = await page('servers');
    expect(textOf(body)).toMatch(/Beta Craft .*a\.example\.org:25565/);
    const item = `${alpha.toHexString()}-${beta.toHexString()}`;
    const accept = { decision: 'accept', item, seen: SEEN };
    expect(await press('servers', accept)).toContain('2 servers accepted.');
    expect(await deps.servers.countDocuments({ isUnseen: true })).toBe(0);
    expect(await press('servers', { ...accept, seen: new Date().toISOString() })).toContain(
      '0 servers accepted. Another operator decided first about 2 servers.',
    );
    expect(await press('servers', { ...accept, decision: 'unaccept' })).toContain(
      '2 servers in the list again.',
    );

    const hide = { server: alpha.toHexString(), tab: 'servers', reason: 'A copy.' };
    const hidden = await press('hide', hide);
    expect(hidden).toContain('Alpha Craft is hidden.');
    expect(await deps.servers.findOne({ _id: alpha })).not.toHaveProperty('isUnseen');
    expect(await press('unhide', hide)).toContain('Alpha Craft is listed again.');
    const actions = (await deps.auditLog.find().toArray()).map(({ action }) => action);
    expect(actions.filter((one) => one === 'server.accept')).toHaveLength(2);
    expect(actions).toEqual(expect.arrayContaining(['server.unaccept', 'server.hide', 'server.unhide']));
  });

  test('are undone by the press that accepted them alone, also if two operators press at once or an answer is lost', async () => {
    const { servers } = web.deps;
    await servers.updateMany({}, { $set: { isUnseen: true } });
    const other = await signIn(web, { role: 'operator' });
    const both = { decision: 'accept', item: `${alpha.toHexString()}-${beta.toHexString()}`, seen: SEEN };
    await resultOf('servers', { ...both, item: alpha.toHexString() }, other);
    const results = [await resultOf('servers', both), await resultOf('servers', both)];
    for (const result of results) {
      expect(textOf(result)).toContain('1 server accepted. Another operator decided first about 1 server.');
      expect(fieldsOf(result, 'Undo')).toMatchObject({ item: beta.toHexString() });
    }
    // A form that names all, as an earlier version sent it, undoes no more.
    expect(await press('servers', { ...both, decision: 'unaccept' })).toContain(
      '1 server in the list again.',
    );
    expect(await servers.find({ isUnseen: true }).toArray()).toMatchObject([{ _id: beta }]);
    // Another operator has accepted it since: the undo of before comes too late.
    await resultOf('servers', { ...both, item: beta.toHexString() }, other);
    expect(await press('servers', fieldsOf(results[0] ?? '', 'Undo'))).toContain(
      '0 servers in the list again.',
    );
  });

  test('that an operator hides on another page leave the list', async () => {
    await web.deps.servers.updateOne({ _id: beta }, { $set: { isUnseen: true } });
    await hideServer(web.deps, beta, { reason: 'A copy.' }, 'test');
    expect(textOf(await page('servers'))).toContain('No new servers.');
  });
});

test('failed jobs of a queue are one item with the newest error: they run again, or are removed, up to what was shown', async () => {
  const queue = web.deps.queues['find-unusual-votes'];
  const worker = new Worker(queue.name, () => Promise.reject(new Error('Out of disk space')), {
    connection: queue.opts.connection,
    prefix: queue.opts.prefix ?? '',
  });
  const failed = new Promise((resolve) => worker.on('failed', resolve));
  await queue.add('a-job', {}, { attempts: 1 });
  await failed;
  await worker.close();
  const body = await page('jobs');
  expect(textOf(body)).toMatch(/: 1 job .*Out of disk space/);
  const remove = fieldsOf(body, 'Remove');
  const earlier = { ...remove, seen: new Date(Date.parse(remove.seen ?? '') - 60_000).toISOString() };
  await press('jobs', earlier);
  expect(await queue.getFailedCount()).toBe(1);
  expect(await press('jobs', fieldsOf(body, 'Run again'))).toContain('The failed jobs run again');
  expect(await queue.getFailedCount()).toBe(0);
  expect(await web.deps.auditLog.countDocuments({ action: 'queue.button' })).toBe(2);
});
