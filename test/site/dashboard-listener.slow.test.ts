import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { MINUTE } from '../../src/platform/clock.ts';
import { makeToken } from '../../src/servers/token-text.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, sendForm, textOf } from '../support/web-app.ts';
import { type OwnerApp, type OwnerFixture, openOwnerApp, ownerFixture } from './owner-fixture.ts';

let shared: OwnerApp;

beforeAll(async () => {
  shared = await openOwnerApp();
});
// All listeners have the same address, so reset the limit of test votes per address.
beforeEach(() => shared.deps.rateLimits.deleteMany({}));

const V2 = { protocol: 'votifier-v2', host: '127.0.0.1', port: '8192', serviceName: 'Tallyport' };

const shown = ({ deps, serverId }: OwnerFixture) => deps.listeners.findOne({ serverId });

async function audit({ deps, serverId }: OwnerFixture): Promise<[string, string][]> {
  const entries = await deps.auditLog
    .find({ serverId, action: /^(listener|vote)\./ })
    .sort({ _id: 1 })
    .toArray();
  return entries.map(({ action, by }) => [action, by]);
}

test('an owner without a listener gets a form with the fields of the chosen protocol only', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.post('/listener/remove');
  const { body } = await fixture.get('/listener');
  expect(textOf(body)).toContain('Set up the vote listener');
  const fields = (page: string) => [...page.matchAll(/ name="(\w+)"/g)].map(([, name]) => name);
  const form = ['protocol', 'host', 'port', 'secret', 'serviceName'];
  expect(fields(body)).toEqual(expect.arrayContaining(form));
  expect(body).not.toContain('name="url"');
  const v1 = (await fixture.get('/listener?protocol=votifier-v1')).body;
  expect(v1).toContain('<textarea id="secret"');
  const http = (await fixture.get('/listener?protocol=http')).body;
  expect(http).toContain('name="url"');
  expect(http).not.toContain('name="host"');
});

test('a listener is set and tested, and no page shows its token afterwards', async () => {
  const fixture = await ownerFixture(shared);
  const { port, token } = fixture.listener;
  const answer = await fixture.post('/listener', { ...V2, port: String(port), secret: ` ${token} ` });
  expect(answer.statusCode).toBe(200);
  expect(textOf(answer.body)).toMatch(/Vote listener saved.* The test vote arrived/);
  expect(answer.body).not.toContain(token);
  expect(fixture.listener.votes.map(({ username }) => username)).toEqual(['TallyportTest']);
  const page = (await fixture.get('/listener')).body;
  expect(textOf(page)).toMatch(/Status active .*Votes are sent as soon as they are cast/);
  expect(textOf(page)).toContain(`Address 127.0.0.1:${port}`);
  expect(page).not.toContain(token);
  expect((await fixture.get('/listener?protocol=votifier-v2')).body).not.toContain(token);
  expect(await audit(fixture)).toContainEqual(['listener.set', fixture.owner.email]);
});

test('the page warns about a forbidden address only', async () => {
  const fixture = await ownerFixture(shared);
  const token = 'abcdef0123456789';
  const page = async (host: string) => {
    expect((await fixture.post('/listener', { ...V2, host, secret: token })).statusCode).toBe(200);
    return textOf((await fixture.get('/listener')).body);
  };
  const warning = '10.0.0.1 is not a public address (private): nothing is sent to it unless the operator';
  expect(await page('10.0.0.1')).toContain(warning);
  for (const host of ['127.0.0.1', 'localhost']) expect(await page(host)).not.toContain('nothing is sent');
});

test.each([
  ['an empty port', { port: '' }, 'Port must be a whole number, 1 to 65535.'],
  ['a port of mail', { port: '25' }, 'Port 22, 25, 465 and 587 are never a vote listener.'],
  ['a host with a port', { host: 'play.example.org:8192' }, 'host'],
  ['an empty token of another protocol', { protocol: 'votifier-v1', secret: '' }, 'The public key is empty.'],
  ['a key for a token', { secret: `MIIBIjANBgkq${'A'.repeat(200)}` }, 'This is a key, not a token'],
  ['an API token of ours', { secret: makeToken() }, 'This is an API token of this listing'],
  ['a token for a key', { protocol: 'votifier-v1', secret: 'abcdef0123456789' }, 'This looks like a token'],
  ['a URL of another kind', { protocol: 'http', url: 'ftp://x.example' }, 'The URL must begin with https://'],
] as const)('%s is refused beside its field, and what was typed stands there', async (_, changes, reason) => {
  const fixture = await ownerFixture(shared);
  const before = await shown(fixture);
  const answer = await fixture.post('/listener', { ...V2, secret: 'abcdef0123456789', ...changes });
  expect(answer.statusCode).toBe(400);
  expect(textOf(answer.body)).toContain(reason);
  expect(answer.body).toContain('aria-invalid="true"');
  expect(await shown(fixture)).toEqual(before);
});

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
  const path = `/dashboard/servers/${fixture.serverId.toHexString()}/listener`;
  const list = async () => {
    const { body } = await getPage(fixture.web, '/dashboard', fixture.owner.headers);
    return new RegExp(`<a href="${path}">(.*?)</a>`).exec(body)?.[1] ?? '';
  };
  expect(textOf(await list())).toContain('test failed');
  for (const part of ['/listener', '/votes', '']) {
    const text = await fixture.read(part);
    expect(text).toContain('test failed');
    expect(text).not.toMatch(/\bactive\b/);
  }
  expect(await fixture.read('/listener')).toContain(
    'The last test vote did not arrive: The listener refused the signature',
  );
  // A further test vote that is accepted proves the settings.
  await fixture.post('/listener', { ...form, secret: token });
  expect(textOf(await list())).toContain('active');
  await fixture.set({ serviceName: 'Another name' });
  expect(textOf(await list())).toContain('not tested');
  await fixture.cast('Steve');
  await fixture.drain();
  expect(textOf(await list())).toContain('active');
});

test('a test after saving takes nothing more from the allowance', async () => {
  const fixture = await ownerFixture(await openOwnerApp());
  const { port, token } = fixture.listener;
  const form = { ...V2, port: String(port), secret: token };
  for (let n = 0; n < 6; n += 1) {
    const saved = await fixture.post('/listener', form);
    expect(textOf(saved.body)).toContain('The test vote arrived');
  }
  expect((await fixture.post('/listener', form)).statusCode).toBe(429);
});

test('settings that no test may reach are saved, and the page says why there is none', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.post('/listener/remove');
  const saved = await fixture.post('/listener', { ...V2, host: '10.0.0.1', secret: 'abcdef0123456789' });
  expect(textOf(saved.body)).toMatch(/Vote listener saved.* The test vote did not arrive.*not .*public/);
  expect(await fixture.read('/listener')).toContain('test failed');
});

test('a private key that was pasted by mistake is not sent back in the page', async () => {
  const fixture = await ownerFixture(shared);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const bare = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
  const pem = String(privateKey.export({ type: 'pkcs1', format: 'pem' }));
  for (const protocol of ['votifier-v1', 'votifier-v2']) {
    for (const secret of [bare, pem]) {
      const { statusCode, body } = await fixture.post('/listener', { ...V2, protocol, secret });
      expect(statusCode).toBe(400);
      expect(body).toContain('aria-invalid="true"');
      expect(body).not.toContain(secret.slice(200, 240));
    }
  }
});

test('an empty token keeps the current one while host, port or service name change', async () => {
  const fixture = await ownerFixture(shared);
  const { port } = fixture.listener;
  await fixture.post('/listener', { ...V2, port: String(port), secret: '', serviceName: 'Other name' });
  expect(await shown(fixture)).toMatchObject({ serviceName: 'Other name', protocol: 'votifier-v2' });
  await fixture.cast('Steve');
  await fixture.drain();
  expect(fixture.listener.votes.map(({ username }) => username)).toEqual(['TallyportTest', 'Steve']);
});

test('a paused listener shows the reason, its answer and the fix; resuming sends waiting votes', async () => {
  const fixture = await ownerFixture(shared);
  const { token } = fixture.listener;
  fixture.listener.tokens = { default: 'another' };
  await fixture.cast('Steve');
  await fixture.drain();
  const page = await fixture.read('/listener');
  expect(page).toMatch(/Paused because of an error since \d+ \w+ \d{4}, \d\d:\d\d UTC/);
  expect(page).toContain(
    'The listener refused the signature: its token for our service name “Tallyport” is different.',
  );
  expect(page).toMatch(/The listener’s answer: “ [^”]*Signature is not valid/);
  expect(page).toContain(
    'Copy the token for our service name “Tallyport”, or for “default” if it has none of its own',
  );
  expect(page).toContain('Votes waiting 1 ');
  fixture.listener.tokens = { default: token };
  expect((await fixture.post('/listener/resume')).statusCode).toBe(303);
  await fixture.drain();
  expect(await fixture.read('/listener?done=resumed')).toMatch(/active .* Votes waiting none/);
  expect(fixture.listener.votes).toHaveLength(1);
});

test('an unreachable listener shows since when, the cause, the next test and the number of waiting votes', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.listener.stop();
  for (const name of ['Steve', 'Alex', 'Kai']) await fixture.cast(name);
  await fixture.drain();
  const page = await fixture.read('/listener');
  expect(page).toMatch(/Unreachable since \d+ \w+/);
  expect(page).toContain(
    'The machine answers, but nothing listens on this port, or a firewall rejects the connection.',
  );
  expect(page).toMatch(/Next test (in \d seconds ?|in a few seconds|now), with one vote\./);
  expect(page).toContain('Votes waiting 3 ');
  expect(page).toContain('Test now');
});

test('pausing, resuming and removing are recorded in the audit log with the owner’s address', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.post('/listener/pause');
  expect(await fixture.read('/listener?done=paused')).toContain('Paused by its owner since');
  await fixture.post('/listener/resume');
  await fixture.post('/listener/pause');
  await fixture.cast('Steve');
  const { body } = await fixture.get('/listener');
  expect(textOf(body)).toContain('1 vote is waiting and leaves the queue.');
  await fixture.post('/listener/remove');
  expect(await shown(fixture)).toBeNull();
  expect((await fixture.post('/listener/pause')).statusCode).toBe(404);
  expect((await fixture.post('/listener/remove')).statusCode).toBe(303);
  const by = fixture.owner.email;
  expect((await audit(fixture)).slice(-4)).toEqual([
    ['listener.pause', by],
    ['listener.resume', by],
    ['listener.pause', by],
    ['listener.remove', by],
  ]);
});

test('the secret of an HTTP listener is shown once, and rotated once even if the form is sent twice', async () => {
  const fixture = await ownerFixture(shared);
  const site = await startFakeHttpListener();
  const url = `http://127.0.0.1:${site.port}/votes`;
  const set = await fixture.post('/listener', { protocol: 'http', url });
  const [secret = ''] = /whsec_[\w+/=]+/.exec(set.body) ?? [];
  expect(secret).not.toBe('');
  const page = (await fixture.get('/listener')).body;
  expect(page).not.toContain('whsec_');
  expect(textOf(page)).toContain('Standard Webhooks');
  const [, revision = ''] = /name="revision" value="(\d+)"/.exec(page) ?? [];
  const rotated = await fixture.post('/listener/rotate', { revision });
  expect(rotated.body).toMatch(/whsec_/);
  expect(textOf(rotated.body)).toMatch(/also signed with the old secret until \d+ \w+ \d{4}/);
  const again = await fixture.post('/listener/rotate', { revision });
  expect(again.statusCode).toBe(409);
  expect(again.body).not.toMatch(/whsec_/);
  expect((await fixture.post('/listener/rotate')).statusCode).toBe(400);
  // If only the URL changes, the secret stays.
  expect((await fixture.post('/listener', { protocol: 'http', url: `${url}2` })).statusCode).toBe(200);
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
    'The listener refused the signature: its token for our service name “Tallyport” is different.',
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
  const fixture = await ownerFixture(await openOwnerApp());
  fixture.clock.stop(new Date());
  for (let n = 0; n < 6; n += 1) expect((await fixture.post('/listener/test')).statusCode).toBe(200);
  const refused = await fixture.post('/listener/test');
  expect(refused.statusCode).toBe(429);
  expect(textOf(refused.body)).toMatch(
    /6 test votes a minute\..* You can try again in (1 minute|\d\d seconds)/,
  );
  expect(Number(refused.headers['retry-after'])).toSatisfy(
    (seconds: number) => seconds > 30 && seconds <= 60,
  );
  fixture.clock.move(MINUTE);
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
