import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { textOf } from '../support/web-app.ts';
import { audit, type OwnerApp, openOwnerApp, ownerFixture, shown, V2 } from './owner-fixture.ts';

let shared: OwnerApp;

beforeAll(async () => {
  shared = await openOwnerApp();
});
// All listeners have the same address, so reset the limit of test votes per address.
beforeEach(() => shared.deps.rateLimits.deleteMany({}));

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

test('the page names the player of the last refused vote, with the listener’s words and a link to the vote', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.cast('First');
  await fixture.drain();
  expect(await fixture.read('/listener')).not.toContain('Last refused');
  fixture.listener.behaviour = {
    answer: '{"status":"error","cause":"CorruptedFrameException","error":"Username too long"}\n',
  };
  const refused = await fixture.cast('Steve <b>');
  await fixture.drain();
  const { body } = await fixture.get('/listener');
  expect(textOf(body)).toMatch(
    /Status active .* Last refused Steve &lt;b&gt; ?, .*“ ?[^”]*Username too long ?”/,
  );
  expect(body).toContain(`/votes/${refused._id}"`);
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

test('a private key that was pasted by mistake is not sent back in the page', async () => {
  const fixture = await ownerFixture(shared);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
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
    'The listener refused the signature: its token for our service name “Tallyport” is different, or it has none for it.',
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
    'The machine answers, but nothing listens at this address and port, or a firewall rejects the connection.',
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
