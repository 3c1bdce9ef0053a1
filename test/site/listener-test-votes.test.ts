import { beforeAll, beforeEach, expect, test } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, sendForm, textOf } from '../support/web-app.ts';
import {
  audit,
  type OwnerApp,
  type OwnerFixture,
  openOwnerApp,
  ownerFixture,
  shown,
  V2,
} from './owner-fixture.ts';

let shared: OwnerApp;

beforeAll(async () => {
  shared = await openOwnerApp();
});
// All listeners have the same address, so reset the limit of test votes per address.
beforeEach(() => shared.deps.rateLimits.deleteMany({}));

/** Stores that the owner asked for `times` checks at `at`. */
async function setAsked({ owner }: OwnerFixture, times: number, at = new Date()): Promise<void> {
  const askedAt = Array(times).fill(at);
  await shared.deps.diagnosisAllowances.updateOne({ _id: owner.userId.toHexString() }, { $set: { askedAt } });
}

test('settings whose test fails are saved, and no page calls the listener active', async () => {
  const fixture = await ownerFixture(shared);
  const { port, token } = fixture.listener;
  const form = { ...V2, port: String(port) };
  const wrong = await fixture.post('/listener', { ...form, secret: 'not-the-token-0123' });
  expect(wrong.statusCode).toBe(200);
  expect(textOf(wrong.body)).toMatch(
    /Vote listener saved.* The test vote did not arrive.*its token for our service name “Tallyport” is different/,
  );
  expect((await audit(fixture)).at(-1)).toEqual(['listener.set', fixture.owner.email]);
  const list = async () => (await getPage(fixture.web, '/dashboard', fixture.owner.headers)).body;
  expect(textOf(await list())).toContain('The last test vote did not arrive, or was not confirmed.');
  for (const part of ['/listener', '/votes', '']) {
    const text = await fixture.read(part);
    expect(text).toContain(part ? 'test failed' : 'The last test vote did not arrive');
    expect(text).not.toMatch(/\bactive\b/);
  }
  expect(await fixture.read('/listener')).toContain(
    'The last test vote did not arrive: The listener refused the signature',
  );
  // A further test vote that is accepted proves the settings.
  await fixture.post('/listener', { ...form, secret: token });
  expect(textOf(await list())).toContain('Next: Describe the server');
  await fixture.set({ serviceName: 'Another name' });
  expect(textOf(await list())).toContain('Next: Send a test vote');
  await fixture.cast('Steve');
  await fixture.drain();
  expect(textOf(await list())).toContain('Next: Describe the server');
});

test('a test after saving takes nothing more from the allowance', async () => {
  const fixture = await ownerFixture(shared);
  const { port, token } = fixture.listener;
  const form = { ...V2, port: String(port), secret: token };
  const saved = await fixture.post('/listener', form);
  expect(textOf(saved.body)).toContain('The test vote arrived');
  const _id = fixture.owner.userId.toHexString();
  expect((await shared.deps.diagnosisAllowances.findOne({ _id }))?.askedAt).toHaveLength(1);
  await setAsked(fixture, 6);
  expect((await fixture.post('/listener', form)).statusCode).toBe(429);
});

test('settings that no test may reach are saved, and the page says why there is none', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.post('/listener/remove');
  const saved = await fixture.post('/listener', { ...V2, host: '10.0.0.1', secret: 'abcdef0123456789' });
  expect(textOf(saved.body)).toMatch(/Vote listener saved.* The test vote did not arrive.*not .*public/);
  expect(await fixture.read('/listener')).toContain('test failed');
});

test('a test vote shows each step, the exact error and the fix, and changes nothing', async () => {
  const fixture = await ownerFixture(shared);
  fixture.listener.tokens = { default: 'another' };
  const before = await shown(fixture);
  const page = await fixture.post('/listener/test');
  expect(page.statusCode).toBe(200);
  const text = textOf(page.body);
  expect(text).toContain('Key or token failed');
  expect(text).toContain('Greeting passed');
  expect(text).toContain('The test vote did not arrive');
  expect(text).toContain(
    'The listener refused the signature: its token for our service name “Tallyport” is different, or it has none for it.',
  );
  expect(text).toMatch(/Listener’s answer “ [^”]*Signature is not valid/);
  expect(text).toContain('bad-signature');
  expect(await shown(fixture)).toEqual({
    ...before,
    tested: {
      at: expect.any(Date),
      code: 'bad-signature',
      result: { fault: 'bad-signature', step: 'key-or-token', reply: expect.any(String) },
    },
  });
  expect(page.body.trimEnd()).toMatch(/<\/html>$/);
});

test('the steps of a test vote are in the reader’s language', async () => {
  const fixture = await ownerFixture(shared);
  fixture.listener.tokens = { default: 'another' };
  const path = `/dashboard/servers/${fixture.serverId.toHexString()}/listener/test`;
  const headers = { ...fixture.owner.headers, 'accept-language': 'de' };
  const text = textOf((await sendForm(fixture.web, path, {}, headers)).body);
  expect(text).toContain('Host nachschlagen');
  expect(text).toContain('Die Teststimme ist nicht angekommen');
  expect(text).toContain('Der Listener hat die Signatur abgelehnt');
});

test('a test vote that arrives is shown as such; with Votifier v1 as not confirmed', async () => {
  const fixture = await ownerFixture(shared);
  expect(textOf((await fixture.post('/listener/test')).body)).toContain('The test vote arrived');
  expect(fixture.listener.votes.map(({ username }) => username)).toEqual(['TallyportTest']);
  await fixture.set({ protocol: 'votifier-v1', secret: fixture.listener.publicKeyLine });
  const text = textOf((await fixture.post('/listener/test')).body);
  expect(text).toContain('The test vote was sent, but not confirmed');
  expect(text).toContain('Key or token not confirmed');
});

test('steps are streamed as they begin, before the listener has answered', async () => {
  const fixture = await ownerFixture(await openOwnerApp({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' }));
  fixture.listener.stall();
  await fixture.web.app.listen({ port: 0, host: '127.0.0.1' });
  const address = fixture.web.app.server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const path = `/dashboard/servers/${fixture.serverId.toHexString()}/listener/test`;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...fixture.owner.headers, accept: 'text/html', 'sec-fetch-site': 'same-origin' },
  });
  let page = '';
  let released = false;
  for await (const piece of answer.body ?? []) {
    page += Buffer.from(piece).toString('utf8');
    if (released || !page.includes('<strong>Acknowledgement')) continue;
    expect(page).not.toContain('The test vote');
    await expect.poll(() => fixture.listener.held).toBe(1);
    fixture.listener.release();
    released = true;
  }
  expect(page).toContain('The test vote arrived');
});

test('a shutdown ends a running test with a message', async () => {
  const fixture = await ownerFixture(await openOwnerApp({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' }));
  fixture.listener.stall();
  const testing = fixture.post('/listener/test');
  await expect.poll(() => fixture.listener.held).toBe(1);
  const closing = fixture.web.app.close();
  expect(textOf((await testing).body)).toContain('This listing is restarting.');
  await closing;
  fixture.listener.release();
});

test('an owner has six test votes a minute, and sees when the next one is allowed', async () => {
  const fixture = await ownerFixture(shared);
  expect((await fixture.post('/listener/test')).statusCode).toBe(200);
  await setAsked(fixture, 5);
  expect((await fixture.post('/listener/test')).statusCode).toBe(200);
  const refused = await fixture.post('/listener/test');
  expect(refused.statusCode).toBe(429);
  expect(textOf(refused.body)).toMatch(
    /6 test votes a minute\..* You can try again in (1 minute|\d\d seconds)/,
  );
  expect(Number(refused.headers['retry-after'])).toSatisfy(
    (seconds: number) => seconds > 30 && seconds <= 60,
  );
  await setAsked(fixture, 6, after(new Date(), -MINUTE));
  expect((await fixture.post('/listener/test')).statusCode).toBe(200);
});

test('a refused port, a missing listener and an unreadable token have messages', async () => {
  const fixture = await ownerFixture(shared);
  const { deps, serverId } = fixture;
  await deps.listeners.updateOne({ serverId }, { $set: { port: 25 } });
  const port = await fixture.post('/listener/test');
  expect([port.statusCode, textOf(port.body)]).toEqual([
    409,
    expect.stringContaining('ports of mail servers'),
  ]);
  await deps.listeners.updateOne({ serverId }, { $set: { port: 8_192, sealedSecret: 'spoiled' } });
  const spoiled = await fixture.post('/listener/test');
  expect([spoiled.statusCode, textOf(spoiled.body)]).toEqual([
    500,
    expect.stringContaining('cannot be read'),
  ]);
  const unreadable = await fixture.post('/listener', { ...V2, secret: '' });
  expect(textOf(unreadable.body)).toContain('cannot be read. Enter it again.');
  await fixture.post('/listener/remove');
  const gone = await fixture.post('/listener/test');
  expect([gone.statusCode, textOf(gone.body)]).toEqual([409, expect.stringContaining('Set one up first')]);
});

test('operators can test and change any server’s listener', async () => {
  const fixture = await ownerFixture(shared);
  const operator = await signIn(fixture.web, { role: 'operator' });
  const path = `/dashboard/servers/${fixture.serverId.toHexString()}/listener`;
  const tested = await sendForm(fixture.web, `${path}/test`, {}, operator.headers);
  expect(textOf(tested.body)).toContain('The test vote arrived');
  await sendForm(fixture.web, `${path}/pause`, {}, operator.headers);
  expect((await audit(fixture)).at(-1)).toEqual(['listener.pause', operator.email]);
});

test('a listener’s answer is escaped', async () => {
  const fixture = await ownerFixture(shared);
  fixture.listener.behaviour = { answer: '{"status":"error","error":"<script>alert(1)</script>"}' };
  const { body } = await fixture.post('/listener/test');
  expect(body).toContain('&lt;script&gt;');
  expect(body).not.toContain('<script>alert');
});
