import type { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let operator: SignedInUser;
let servers: ObjectId[];

beforeAll(async () => {
  web = await openWebApp();
  operator = await signIn(web, { role: 'operator' });
  const owner = await signIn(web);
  servers = [
    await addOwnedServer(web.deps, owner.userId, { name: 'Alpha Craft', address: 'a.example.org' }),
    await addOwnedServer(web.deps, owner.userId, { name: 'Beta Craft', address: 'b.example.org' }),
  ];
});

const ORIGIN = 'aHashOfANetwork-012345';

/** Votes of one network are held on two servers. */
beforeEach(async () => {
  const { voteExclusions, blocks } = web.deps;
  await Promise.all([voteExclusions.deleteMany({}), blocks.deleteMany({})]);
  for (const serverId of servers) {
    const reason = 'One network voted as more than 6 new players in a day.';
    await openQuarantine(web.deps, serverId, reason, { cause: 'network', origin: ORIGIN });
  }
});

const press = (action: string, { headers } = operator) =>
  sendForm(web, `/operator/votes/quarantines/${ORIGIN}/${action}`, {}, headers);
const statesOf = async () => (await web.deps.voteExclusions.find().toArray()).map(({ state }) => state);

test('one row shows the votes of a network on all servers, with one decision for all', async () => {
  const page = (await getPage(web, '/operator', operator.headers)).body;
  const text = textOf(page);
  expect(text).toContain('One network. One network voted as more than 6 new players in a day.');
  expect(text).toMatch(/Alpha Craft .*Beta Craft/);
  expect(page.split(`/operator/votes/quarantines/${ORIGIN}/exclude`)).toHaveLength(2);
});

test.each([
  ['lift', 'releasing', 'including'],
  ['exclude', 'confirming', 'excluding'],
])('“%s” decides about all of them, once', async (action, state, done) => {
  const decided = await press(action);
  expect([decided.statusCode, decided.headers.location]).toEqual([
    303,
    `/operator/votes?done=${done}#exclusions`,
  ]);
  expect(await statesOf()).toEqual([state, state]);
  expect((await press(action)).statusCode).toBe(409);
  expect(textOf((await getPage(web, '/operator', operator.headers)).body)).not.toContain('One network.');
});

test('“Block this network” leads to the list of blocks, where it can be lifted; a second press says so', async () => {
  const blocked = await press('block');
  expect(blocked.headers.location).toBe('/operator/blocks?done=added');
  expect(textOf((await getPage(web, '/operator/blocks', operator.headers)).body)).toContain(
    `network with the hash ${ORIGIN}`,
  );
  const again = await press('block');
  expect([again.statusCode, textOf(again.body)]).toEqual([409, expect.stringContaining('blocked already')]);
  // The votes are still held.
  expect(await statesOf()).toEqual(['quarantined', 'quarantined']);
});
