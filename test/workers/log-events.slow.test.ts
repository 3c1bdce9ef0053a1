import { type AddressInfo, connect } from 'node:net';
import { expect, it, vi } from 'vitest';
import { pauseListener, resumeListener } from '../../src/delivery/change-listener.ts';
import { rotateSecret, setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { DELIVERY_EXPIRES_MS } from '../../src/listeners/delivery-limits.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { collectLines, type LogLine } from '../support/log-lines.ts';
import { voteOnPage } from '../support/vote-form.ts';
import { openWebAppOn } from '../support/web-app.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps, type GameServer } from './game-server.ts';

/** The fields of every event of a listener's delivery. */
async function namesOf({ listeners }: AppDeps, { serverId }: GameServer) {
  const listener = await listeners.findOne({ serverId });
  return {
    serverId: serverId.toHexString(),
    listenerId: listener?._id.toHexString(),
    jobId: expect.stringMatching(/./),
  };
}

it('an attempt has the ids of server, vote, listener and job', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const worker = await startWorker(deps.config);
  const vote = await alpha.cast('Steve');
  expect(await worker.waitForEvent('delivery.attempt')).toMatchObject({
    ...(await namesOf(deps, alpha)),
    voteId: vote._id.toString(),
    attempt: 1,
    protocol: 'votifier-v2',
    test: false,
    code: 'acknowledged',
    class: 'delivered',
    durationMs: expect.any(Number),
  });
});

it('a vote can be followed from its request to its attempt', async () => {
  const deps = await castingDeps();
  const { lines, add } = collectLines();
  const log = createLogger({ LOG_LEVEL: 'info' }, 'web', { write: add });
  const web = await openWebAppOn({ ...deps, log });
  const alpha = await addGameServer(deps);
  const worker = await startWorker(deps.config);
  const { token } = await issueToken(deps, { serverId: alpha.serverId, name: 'test' });
  const { slug = '' } = (await deps.servers.findOne({ _id: alpha.serverId })) ?? {};

  const address = await web.app.listen({ host: '127.0.0.1', port: 0 });
  const called = await fetch(`${address}/api/v1/servers/${alpha.serverId}/vote`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-request-id': 'chosen-by-the-client',
    },
    body: JSON.stringify({ username: 'Steve' }),
  });
  const submitted = await voteOnPage(web, slug, 'Alex');
  expect([called.status, submitted.statusCode]).toEqual([200, 303]);

  const answers = [
    ['vote.accepted', called.headers.get('x-request-id'), called.headers.get('vote-id')],
    [
      'web_vote.accepted',
      submitted.headers['x-request-id'],
      String(submitted.headers.location).split('/').at(-1),
    ],
  ];
  for (const [event, requestId, voteId] of answers) {
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(lines.filter((line) => line.event === event)).toEqual([
      expect.objectContaining({ requestId, voteId, serverId: alpha.serverId.toHexString() }),
    ]);
    await worker.waitForEvent('delivery.attempt', (line) => line.voteId === voteId);
  }
  // With the request's id, the player's address could be found in a proxy's log, so it is not stored with the vote.
  const stored = JSON.stringify(await deps.votes.find().toArray());
  for (const [, requestId] of answers) expect(stored).not.toContain(requestId);
});

it('an accepted vote is logged also if the client has not waited for the answer', async () => {
  const deps = await castingDeps();
  const log = collectLines();
  const web = await openWebAppOn({
    ...deps,
    log: createLogger({ LOG_LEVEL: 'info' }, 'web', { write: log.add }),
  });
  const alpha = await addGameServer(deps);
  const { token } = await issueToken(deps, { serverId: alpha.serverId, name: 'test' });
  await web.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = web.app.server.address() as AddressInfo;
  const gone = new Promise((resolve) =>
    web.app.server.once('connection', (socket) => socket.once('close', resolve)),
  );
  const body = '{"username":"Steve"}';
  const client = connect(port, '127.0.0.1');
  // The vote is stored only after the connection has ended.
  vi.spyOn(deps.blockList, 'findName').mockImplementation(async () => {
    client.resetAndDestroy();
    await gone;
    return null;
  });
  client.write(
    `POST /api/v1/servers/${alpha.serverId}/vote HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const line = await log.waitForEvent('vote.accepted');
  const serverId = alpha.serverId.toHexString();
  expect(line).toMatchObject({ clientGone: true, serverId, voteId: expect.any(String) });
  expect(await deps.votes.countDocuments()).toBe(1);
});

it('a breaker logs when it opens and when it closes', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const worker = await startWorker(deps.config);
  await alpha.listener.stop();
  for (const name of ['Steve', 'Alex', 'Kai']) await alpha.cast(name);
  const names = await namesOf(deps, alpha);
  expect(await worker.waitForEvent('breaker.opened')).toMatchObject({
    ...names,
    level: 'warn',
    voteId: expect.any(String),
    code: 'connection-refused',
    nextTestAt: expect.any(String),
  });
  await alpha.listener.start();
  const closed = await worker.waitForEvent('breaker.closed');
  expect(closed).toMatchObject({ ...names, voteId: expect.any(String), openSince: expect.any(String) });
  expect(worker.lines.filter(({ event }) => event === 'breaker.opened')).toHaveLength(1);
});

it('a vote that is given up is logged, and so is a listener that is paused after an error', async () => {
  const deps = await castingDeps();
  const [refused, lost, misconfigured] = await Promise.all(
    ['Refused', 'Lost', 'Misconfigured'].map((name) => addGameServer(deps, { name })),
  );
  if (!refused || !lost || !misconfigured) throw new Error('not listed');
  const tooLong = { status: 'error', cause: 'CorruptedFrameException', error: 'Username too long' };
  refused.listener.behaviour = { answer: JSON.stringify(tooLong) };
  misconfigured.listener.tokens = { default: 'another-token' };
  const worker = await startWorker(deps.config);
  await lost.cast('First');
  await vi.waitUntil(async () => (await lost.count('delivered')) === 1, EVENTUALLY);
  lost.listener.behaviour = { onFrame: 'close' };

  const failed = await refused.cast('Steve');
  expect(await worker.waitForEvent('vote.failed')).toMatchObject({
    ...(await namesOf(deps, refused)),
    voteId: failed._id.toString(),
    code: 'name-too-long',
    words: expect.stringContaining('Username too long'),
  });
  const unconfirmed = await lost.cast('Steve');
  expect(await worker.waitForEvent('vote.unconfirmed')).toMatchObject({
    ...(await namesOf(deps, lost)),
    voteId: unconfirmed._id.toString(),
    code: 'closed-without-answer',
  });
  const held = await misconfigured.cast('Steve');
  expect(await worker.waitForEvent('listener.paused')).toMatchObject({
    ...(await namesOf(deps, misconfigured)),
    voteId: held._id.toString(),
    by: 'tallyport',
    code: 'bad-signature',
  });
});

it('expired votes are logged once for each server', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await alpha.listener.stop();
  for (const name of ['Steve', 'Alex']) await alpha.cast(name);
  const long = after(deps.clock.now(), -4 * DAY);
  const expiresAt = after(long, DELIVERY_EXPIRES_MS);
  const overdue = { votedAt: long, 'delivery.queuedAt': long, 'delivery.expiresAt': expiresAt };
  await deps.votes.updateMany({ serverId: alpha.serverId }, { $set: overdue });
  const worker = await startWorker(deps.config);
  const { jobId: _, ...names } = await namesOf(deps, alpha);
  expect(await worker.waitForEvent('votes.expired')).toMatchObject({ ...names, votes: 2 });
});

it('the log names the user who pauses or resumes a listener', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const lines: LogLine[] = [];
  const log = { ...deps.log, info: (line: LogLine) => lines.push(line) };
  const withLog = { ...deps, log: log as never };
  await pauseListener(withLog, alpha.serverId, 'owner');
  await resumeListener(withLog, alpha.serverId, 'operator');
  const { jobId: _, ...names } = await namesOf(deps, alpha);
  expect(lines).toEqual([
    { event: 'listener.paused', ...names, by: 'owner' },
    { event: 'listener.resumed', ...names, by: 'operator' },
  ]);
});

it('no line contains a key, a token, a signing secret or an address with a password', async () => {
  const deps = await castingDeps();
  const [alpha, beta, gamma] = await Promise.all([
    addGameServer(deps, { name: 'Alpha' }),
    addGameServer(deps, { name: 'Beta', protocol: 'votifier-v1' }),
    addGameServer(deps, { name: 'Gamma' }),
  ]);
  const { token } = alpha.listener;
  alpha.listener.behaviour = {
    answer: JSON.stringify({ status: 'error', cause: 'Error', error: `No service has the token ${token}!` }),
  };
  const site = await startFakeHttpListener();
  // Like many frameworks, the website repeats the request in its error.
  site.answer = (response, { path }) => response.writeHead(404).end(`Cannot POST ${path}`);
  const url = `http://127.0.0.1:${site.port}/votes?key=query-key-4711`;
  const { secret } = await setHttpListener(deps, gamma.serverId, { url, serviceName: 'x' }, 'test');
  const rotated = await rotateSecret(deps, gamma.serverId, 'test');

  const { config } = deps;
  const REDIS_URL = config.REDIS_URL.replace('redis://', 'redis://:redis-password@');
  const worker = await startWorker(config, { env: { REDIS_URL, LOG_LEVEL: 'trace' } });
  const votes = await Promise.all([alpha, beta, gamma].map((server) => server.cast('Steve')));
  await vi.waitFor(() => {
    const ended = worker.lines.filter(({ event }) => event === 'delivery.attempt');
    expect(new Set(ended.map(({ voteId }) => voteId)).size).toBe(votes.length);
  }, EVENTUALLY);
  await worker.stop();

  const log = worker.lines.map((line) => JSON.stringify(line)).join('\n');
  expect(log).toContain('No service has the token [hidden]!');
  expect(log).toContain('Cannot POST /votes?key=[hidden]');
  const secrets = [
    token,
    beta.listener.publicKeyLine,
    'query-key-4711',
    'redis-password',
    config.SECRET_KEY,
    secret ?? '',
    rotated?.secret ?? '',
  ];
  for (const hidden of secrets) {
    expect(hidden).not.toBe('');
    expect(log).not.toContain(hidden);
  }
  // The texts for users contain none either.
  for (const { delivery } of await deps.votes.find().toArray()) {
    expect(JSON.stringify(delivery)).not.toContain(token);
  }
});
