import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { MINUTE } from '../../src/clock.ts';
import { makeToken } from '../../src/servers/token-text.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { type OwnerBench, ownerBench, textOf } from './owner-bench.ts';
import { sendForm, signedInAs } from './web-app.ts';

const V2 = { protocol: 'votifier-v2', host: '127.0.0.1', port: '8192', serviceName: 'Tallyport' };

const shown = ({ platform, serverId }: OwnerBench) => platform.listeners.findOne({ serverId });

async function audit({ platform }: OwnerBench): Promise<[string, string][]> {
  const entries = await platform.auditLog
    .find({ action: /^(listener|vote)\./ })
    .sort({ _id: 1 })
    .toArray();
  return entries.map(({ action, by }) => [action, by]);
}

test('an owner without a listener is offered one, with the fields that each protocol needs and no other', async () => {
  const bench = await ownerBench();
  await bench.post('/listener/remove');
  const { body } = await bench.get('/listener');
  expect(textOf(body)).toContain('Set up the vote listener');
  const fields = (page: string) => [...page.matchAll(/ name="(\w+)"/g)].map(([, name]) => name);
  const form = ['protocol', 'host', 'port', 'secret', 'serviceName'];
  expect(fields(body)).toEqual(expect.arrayContaining(form));
  expect(body).not.toContain('name="url"');
  const v1 = (await bench.get('/listener?protocol=votifier-v1')).body;
  expect(v1).toContain('<textarea id="secret"');
  const http = (await bench.get('/listener?protocol=http')).body;
  expect(http).toContain('name="url"');
  expect(http).not.toContain('name="host"');
});

test('a listener is set, and its token is on no page afterwards', async () => {
  const bench = await ownerBench();
  const { port, token } = bench.listener;
  const answer = await bench.post('/listener', { ...V2, port: String(port), secret: ` ${token} ` });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toMatch(/\/listener\?done=set$/);
  const page = (await bench.get('/listener?done=set')).body;
  expect(textOf(page)).toContain('The listener is set');
  expect(textOf(page)).toContain(`Address 127.0.0.1:${port}`);
  expect(page).not.toContain(token);
  expect((await bench.get('/listener?protocol=votifier-v2')).body).not.toContain(token);
  expect(await audit(bench)).toContainEqual(['listener.set', bench.owner.email]);
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
  const bench = await ownerBench();
  const before = await shown(bench);
  const answer = await bench.post('/listener', { ...V2, secret: 'abcdef0123456789', ...changes });
  expect(answer.statusCode).toBe(400);
  expect(textOf(answer.body)).toContain(reason);
  expect(answer.body).toContain('aria-invalid="true"');
  expect(await shown(bench)).toEqual(before);
});

test('a private key that was pasted by mistake is not sent back in the page', async () => {
  const bench = await ownerBench();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const bare = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
  const pem = String(privateKey.export({ type: 'pkcs1', format: 'pem' }));
  for (const protocol of ['votifier-v1', 'votifier-v2']) {
    for (const secret of [bare, pem]) {
      const { statusCode, body } = await bench.post('/listener', { ...V2, protocol, secret });
      expect(statusCode).toBe(400);
      expect(body).toContain('aria-invalid="true"');
      expect(body).not.toContain(secret.slice(200, 240));
    }
  }
});

test('an empty token keeps the one that is set, while host, port or service name change', async () => {
  const bench = await ownerBench();
  const { port } = bench.listener;
  await bench.post('/listener', { ...V2, port: String(port), secret: '', serviceName: 'Other name' });
  expect(await shown(bench)).toMatchObject({ serviceName: 'Other name', protocol: 'votifier-v2' });
  await bench.cast('Steve');
  await bench.drain();
  expect(bench.listener.votes.map(({ username }) => username)).toEqual(['Steve']);
});

test('a paused listener says why, what it said and how to mend it; resuming sends what waits', async () => {
  const bench = await ownerBench();
  const { token } = bench.listener;
  bench.listener.tokens = { default: 'another' };
  await bench.cast('Steve');
  await bench.drain();
  const page = await bench.read('/listener');
  expect(page).toMatch(/Paused because of a fault since \d+ \w+ \d{4}, \d\d:\d\d UTC/);
  expect(page).toContain('The listener refused the signature: its token is another one.');
  expect(page).toMatch(/It said: « [^»]*Signature is not valid/);
  expect(page).toContain('Copy the token from the vote plugin’s configuration once more');
  expect(page).toContain('Votes waiting 1 ');
  bench.listener.tokens = { default: token };
  expect((await bench.post('/listener/resume')).statusCode).toBe(303);
  await bench.drain();
  expect(await bench.read('/listener?done=resumed')).toMatch(/active .* Votes waiting none/);
  expect(bench.listener.votes).toHaveLength(1);
});

test('an unreachable listener says since when, what was seen, when it is tested next and how many votes wait', async () => {
  const bench = await ownerBench();
  await bench.listener.stop();
  for (const name of ['Steve', 'Alex', 'Kai']) await bench.cast(name);
  await bench.drain();
  const page = await bench.read('/listener');
  expect(page).toMatch(/Unreachable since \d+ \w+/);
  expect(page).toContain('The machine answers, but nothing listens on this port.');
  expect(page).toMatch(/Next test in (\d seconds|a moment)/);
  expect(page).toContain('Votes waiting 3 ');
  expect(page).toContain('Test now');
});

test('an owner pauses, resumes and removes; each stands in the audit log under their address', async () => {
  const bench = await ownerBench();
  await bench.post('/listener/pause');
  expect(await bench.read('/listener?done=paused')).toContain('Paused by its owner since');
  await bench.post('/listener/resume');
  await bench.post('/listener/pause');
  await bench.cast('Steve');
  const { body } = await bench.get('/listener');
  expect(textOf(body)).toContain('1 vote waits and is taken out of the line.');
  await bench.post('/listener/remove');
  expect(await shown(bench)).toBeNull();
  expect((await bench.post('/listener/pause')).statusCode).toBe(404);
  expect((await bench.post('/listener/remove')).statusCode).toBe(303);
  const by = bench.owner.email;
  expect((await audit(bench)).slice(-4)).toEqual([
    ['listener.pause', by],
    ['listener.resume', by],
    ['listener.pause', by],
    ['listener.remove', by],
  ]);
});

test('the secret of an HTTP listener is shown once, and rotated once however often the form is sent', async () => {
  const bench = await ownerBench();
  const site = await startFakeHttpListener();
  const url = `http://127.0.0.1:${site.port}/votes`;
  const set = await bench.post('/listener', { protocol: 'http', url });
  const [secret = ''] = /whsec_[\w+/=]+/.exec(set.body) ?? [];
  expect(secret).not.toBe('');
  const page = (await bench.get('/listener')).body;
  expect(page).not.toContain('whsec_');
  expect(textOf(page)).toContain('Standard Webhooks');
  const [, revision = ''] = /name="revision" value="(\d+)"/.exec(page) ?? [];
  const rotated = await bench.post('/listener/rotate', { revision });
  expect(rotated.body).toMatch(/whsec_/);
  expect(textOf(rotated.body)).toMatch(/signed with the old one too until \d+ \w+ \d{4}/);
  const again = await bench.post('/listener/rotate', { revision });
  expect(again.statusCode).toBe(409);
  expect(again.body).not.toMatch(/whsec_/);
  expect((await bench.post('/listener/rotate')).statusCode).toBe(409);
  // Another URL keeps the secret.
  expect((await bench.post('/listener', { protocol: 'http', url: `${url}2` })).statusCode).toBe(303);
});

test('a test vote shows each step, names the exact fault and what to do, and changes nothing', async () => {
  const bench = await ownerBench();
  bench.listener.tokens = { default: 'another' };
  const before = await shown(bench);
  const page = await bench.post('/listener/test');
  expect(page.statusCode).toBe(200);
  const text = textOf(page.body);
  expect(text).toContain('Key or token here it fails');
  expect(text).toContain('Greeting in order');
  expect(text).toContain('The test vote did not arrive');
  expect(text).toContain('The listener refused the signature: its token or secret is another one.');
  expect(text).toMatch(/The listener said « [^»]*Signature is not valid/);
  expect(text).toContain('bad-signature');
  expect(await shown(bench)).toEqual(before);
  expect(page.body.trimEnd()).toMatch(/<\/html>$/);
});

test('a test vote that arrives says so; with Votifier v1 that nothing can be confirmed', async () => {
  const bench = await ownerBench();
  expect(textOf((await bench.post('/listener/test')).body)).toContain('The test vote arrived');
  expect(bench.listener.votes.map(({ username }) => username)).toEqual(['TallyportTest']);
  await bench.set({ protocol: 'votifier-v1', secret: bench.listener.publicKeyLine });
  const text = textOf((await bench.post('/listener/test')).body);
  expect(text).toContain('The test vote was sent, and cannot be confirmed');
  expect(text).toContain('Key or token cannot be confirmed');
});

test('steps are sent as they begin, before the listener has answered', async () => {
  const bench = await ownerBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
  bench.listener.hold();
  await bench.web.app.listen({ port: 0, host: '127.0.0.1' });
  const address = bench.web.app.server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const path = `/dashboard/servers/${bench.serverId.toHexString()}/listener/test`;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...bench.owner.headers, accept: 'text/html', 'sec-fetch-site': 'same-origin' },
  });
  let page = '';
  let released = false;
  for await (const piece of answer.body ?? []) {
    page += Buffer.from(piece).toString('utf8');
    if (released || !page.includes('<strong>Acknowledgement')) continue;
    expect(page).not.toContain('The test vote');
    await expect.poll(() => bench.listener.held).toBe(1);
    bench.listener.release();
    released = true;
  }
  expect(page).toContain('The test vote arrived');
});

test('a process that stops ends a test that is under way with a sentence', async () => {
  const bench = await ownerBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
  bench.listener.hold();
  const testing = bench.post('/listener/test');
  await expect.poll(() => bench.listener.held).toBe(1);
  const closing = bench.web.app.close();
  expect(textOf((await testing).body)).toContain('This listing is being restarted.');
  await closing;
  bench.listener.release();
});

test('an owner has six test votes a minute, and is told when the next one may be sent', async () => {
  const bench = await ownerBench();
  bench.clock.stop(new Date());
  for (let n = 0; n < 6; n += 1) expect((await bench.post('/listener/test')).statusCode).toBe(200);
  const refused = await bench.post('/listener/test');
  expect(refused.statusCode).toBe(429);
  expect(textOf(refused.body)).toContain('6 test votes a minute. Send the next one in 1 minute.');
  expect(Number(refused.headers['retry-after'])).toBe(60);
  bench.clock.move(MINUTE);
  expect((await bench.post('/listener/test')).statusCode).toBe(200);
});

test('a refused port, a listener that is gone and a token that cannot be read are said in words', async () => {
  const bench = await ownerBench();
  const { platform, serverId } = bench;
  await platform.listeners.updateOne({ serverId }, { $set: { port: 25 } });
  const port = await bench.post('/listener/test');
  expect([port.statusCode, textOf(port.body)]).toEqual([409, expect.stringContaining('a port of mail')]);
  await platform.listeners.updateOne({ serverId }, { $set: { port: 8_192, sealedSecret: 'spoiled' } });
  const spoiled = await bench.post('/listener/test');
  expect([spoiled.statusCode, textOf(spoiled.body)]).toEqual([
    500,
    expect.stringContaining('cannot be read'),
  ]);
  const kept = await bench.post('/listener', { ...V2, secret: '' });
  expect(textOf(kept.body)).toContain('cannot be read any more: enter it again.');
  await bench.post('/listener/remove');
  const gone = await bench.post('/listener/test');
  expect([gone.statusCode, textOf(gone.body)]).toEqual([409, expect.stringContaining('Set one first')]);
});

test('operators test and mend the listener of anybody’s server', async () => {
  const bench = await ownerBench();
  const operator = await signedInAs(bench.web, 'operator');
  const path = `/dashboard/servers/${bench.serverId.toHexString()}/listener`;
  const tested = await sendForm(bench.web, `${path}/test`, {}, operator.headers);
  expect(textOf(tested.body)).toContain('The test vote arrived');
  await sendForm(bench.web, `${path}/pause`, {}, operator.headers);
  expect((await audit(bench)).at(-1)).toEqual(['listener.pause', operator.email]);
});

test('what a listener says is escaped', async () => {
  const bench = await ownerBench();
  bench.listener.behaviour = { answer: '{"status":"error","error":"<script>alert(1)</script>"}' };
  const { body } = await bench.post('/listener/test');
  expect(body).toContain('&lt;script&gt;');
  expect(body).not.toContain('<script>alert');
});
