import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let operator: SignedInUser;

beforeAll(async () => {
  web = await openWebApp();
  operator = await signIn(web, { role: 'operator' });
});
beforeEach(async () => {
  await web.deps.blocks.deleteMany({});
});

const page = async (query = '') => (await getPage(web, `/operator/blocks${query}`, operator.headers)).body;
const send = (fields: Record<string, string>, path = '') =>
  sendForm(web, `/operator/blocks${path}`, fields, operator.headers);

test('an operator blocks a name and a network, sees the hits, and lifts a block', async () => {
  expect(await page()).toContain('Nothing is blocked.');
  const script = '<script>alert(1)</script>';
  const named = await send({ kind: 'name', value: script, reason: script, endsAt: '2999-01-01T00:00' });
  expect(named.headers.location).toBe('/operator/blocks?done=added');
  expect((await send({ kind: 'network', value: '203.0.113.77/24', reason: 'Bots' })).statusCode).toBe(303);
  const [block] = await web.deps.blocks.find({ kind: 'name' }).toArray();
  if (!block) throw new Error('not stored');
  web.deps.blockList.countHit(block, web.deps.clock.now());
  const body = await page('?done=added');
  expect(body).not.toContain('<script>alert');
  expect(body).toContain('203.0.113.0/24');
  expect(body).toContain('until');
  expect(textOf(body)).toMatch(/seconds ago|just now|now/);
  const lift = () => send({}, `/${block._id.toHexString()}/lift`);
  expect((await lift()).headers.location).toBe('/operator/blocks?done=lifted');
  expect((await lift()).statusCode).toBe(404);
  expect((await send({}, `/${new ObjectId()}/lift`)).statusCode).toBe(404);
  expect(await page()).toContain('lifted');
  expect(await web.deps.blocks.findOne({ _id: block._id })).toMatchObject({
    hits: 1,
    lifted: { by: operator.email },
  });
});

test('a very large network needs a check box', async () => {
  const fields = { kind: 'network', value: '2001::/16', reason: 'Everybody' };
  const refused = await send(fields);
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('2001::/16 is a very large network.');
  expect(refused.body).toContain('name="isWideMeant"');
  expect(refused.body).toContain('Everybody');
  expect((await send({ ...fields, isWideMeant: 'yes' })).statusCode).toBe(303);
});

test('errors are beside their fields, and a link fills in the form', async () => {
  const { statusCode, body } = await send({ kind: 'name', value: '', reason: '', endsAt: 'soon' });
  expect(statusCode).toBe(400);
  expect(body).toContain('Must be a time such as');
  expect((await send({ kind: 'name', value: 'Steve', reason: ' ' })).body).toContain(
    'The reason must say why.',
  );
  expect((await send({})).statusCode).toBe(400);
  expect(await page('?kind=name&value=%22Steve%22')).toContain('value="&quot;Steve&quot;"');
});
