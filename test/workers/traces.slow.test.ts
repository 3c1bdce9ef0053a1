import { expect, it, vi } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { type ExportedSpan, type FakeCollector, startFakeCollector } from '../support/fake-collector.ts';
import { openWebAppOn } from '../support/web-app.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps, type GameServer } from './game-server.ts';

const QUICK = { OTEL_BSP_SCHEDULE_DELAY: '20' };

/** The spans of one vote's delivery, without those of other votes. */
const isAttempt = ({ name }: ExportedSpan) => name.startsWith('deliver ');

async function openTraced(collector: FakeCollector, env: Record<string, string> = {}) {
  const deps = await castingDeps({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...QUICK, ...env });
  const alpha = await addGameServer(deps);
  const { app } = await openWebAppOn(deps);
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  return { deps, alpha, vote: await voter(deps, alpha, address) };
}

/** Casts votes over the API. */
async function voter(deps: AppDeps, { serverId }: GameServer, address: string) {
  const { token } = await issueToken(deps, { serverId, name: 'test' });
  return async (username: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${address}/api/v1/servers/${serverId}/vote?secret=in-the-url`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ username }),
    });
    return {
      status: answer.status,
      voteId: answer.headers.get('vote-id') ?? '',
      requestId: answer.headers.get('x-request-id') ?? '',
      token,
    };
  };
}

it('the trace of a vote has its request, its cast, its wake-up job and its attempt', async () => {
  const collector = await startFakeCollector();
  const { deps, alpha, vote } = await openTraced(collector);
  const worker = await startWorker(deps.config);
  // The job that was added when the listener was set has ended.
  await collector.span(({ kind }) => kind === 'consumer');
  const { voteId, requestId } = await vote('Steve');

  const attempt = await collector.span(isAttempt);
  const ofTrace = ({ traceId }: ExportedSpan) => traceId === attempt.traceId;
  const request = await collector.span((span) => ofTrace(span) && span.kind === 'server');
  const cast = await collector.span((span) => ofTrace(span) && span.name === 'cast vote');
  const sent = await collector.span((span) => ofTrace(span) && span.kind === 'producer');
  const job = await collector.span((span) => ofTrace(span) && span.kind === 'consumer');

  const serverId = alpha.serverId.toHexString();
  const listenerId = (await deps.listeners.findOne({ serverId: alpha.serverId }))?._id.toHexString();
  expect(request).toMatchObject({
    name: 'POST /api/v1/servers/:server_id/vote',
    parentId: '',
    service: 'tallyport-test',
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/v1/servers/:server_id/vote',
      'http.response.status_code': 200,
      'tallyport.request.id': requestId,
      'tallyport.server.id': serverId,
    },
  });
  expect(cast).toMatchObject({
    parentId: request.spanId,
    attributes: {
      'tallyport.server.id': serverId,
      'tallyport.vote.id': voteId,
      'tallyport.vote.result': 'accepted',
    },
  });
  const queue = job.attributes['messaging.destination.name'];
  expect(sent).toMatchObject({
    name: `send ${queue}`,
    parentId: cast.spanId,
    attributes: { 'messaging.system': 'bullmq', 'tallyport.listener.id': listenerId },
  });
  expect(job).toMatchObject({
    name: `process ${queue}`,
    parentId: sent.spanId,
    service: 'tallyport-worker',
    attributes: { 'messaging.system': 'bullmq', 'messaging.operation.type': 'process' },
  });
  expect(attempt).toMatchObject({
    name: 'deliver votifier-v2',
    kind: 'client',
    parentId: cast.spanId,
    links: [expect.anything()],
    isError: false,
    attributes: {
      'tallyport.server.id': serverId,
      'tallyport.listener.id': listenerId,
      'tallyport.vote.id': voteId,
      'tallyport.attempt.number': 1,
      'tallyport.attempt.protocol': 'votifier-v2',
      'tallyport.attempt.outcome': 'delivered',
      'tallyport.attempt.code': 'acknowledged',
      'tallyport.attempt.reached': 'acknowledged',
    },
  });
  // The job that made the attempt: this one, or a faster one of the sweep.
  const maker = await collector.span(({ spanId }) => spanId === attempt.links[0]?.spanId);
  expect(maker.kind).toBe('consumer');
  expect(attempt.startedAt).toBeGreaterThanOrEqual(maker.startedAt - 1);
  expect(attempt.endedAt).toBeGreaterThanOrEqual(attempt.startedAt);
  // The log line has the trace's id.
  const logged = await worker.waitForEvent('delivery.attempt');
  expect(logged).toMatchObject({ voteId, traceId: attempt.traceId });
});

it('a retry by the sweep, on another worker and without the job, is in the trace of its vote', async () => {
  const collector = await startFakeCollector();
  const { deps, alpha, vote } = await openTraced(collector);
  alpha.listener.behaviour = { onConnect: 'close' };
  const first = await startWorker(deps.config);
  const { voteId } = await vote('Steve');
  const failed = await collector.span(isAttempt);
  expect(failed).toMatchObject({ isError: true, attributes: { 'tallyport.attempt.outcome': 'transient' } });
  await first.stop();

  for (const queue of Object.values(deps.queues)) await queue.obliterate({ force: true });
  alpha.listener.behaviour = {};
  await startWorker(deps.config);
  const delivered = await collector.span(
    ({ attributes }) => attributes['tallyport.attempt.outcome'] === 'delivered',
  );
  expect(delivered).toMatchObject({
    traceId: failed.traceId,
    parentId: failed.parentId,
    attributes: { 'tallyport.vote.id': voteId },
  });
  // The sweep's job has its own trace.
  expect(delivered.links).toHaveLength(1);
  expect(delivered.links[0]?.traceId).not.toBe(failed.traceId);
});

it('votes that share database operations and a job have their own traces', async () => {
  const collector = await startFakeCollector();
  const { deps, alpha, vote } = await openTraced(collector);
  const votes = await Promise.all(Array.from({ length: 20 }, (_, n) => vote(`player ${n}`)));
  await startWorker(deps.config);
  await vi.waitUntil(() => collector.spans.filter(isAttempt).length === votes.length, EVENTUALLY);

  for (const { voteId, requestId } of votes) {
    const of = (key: string, value: string, kind: ExportedSpan['kind']) =>
      collector.spans.filter(({ attributes, kind: own }) => attributes[key] === value && own === kind);
    const [request] = of('tallyport.request.id', requestId, 'server');
    const [cast] = of('tallyport.vote.id', voteId, 'internal');
    const attempts = of('tallyport.vote.id', voteId, 'client');
    expect(cast).toMatchObject({ traceId: request?.traceId, parentId: request?.spanId });
    expect(attempts).toEqual([
      expect.objectContaining({ traceId: request?.traceId, parentId: cast?.spanId }),
    ]);
  }
  expect(new Set(collector.spans.filter(isAttempt).map(({ traceId }) => traceId)).size).toBe(votes.length);
  const sent = collector.spans.filter(({ kind, parentId }) => kind === 'producer' && parentId);
  for (const { parentId, traceId } of sent)
    expect(collector.spans.find(({ spanId }) => spanId === parentId)?.traceId).toBe(traceId);
  expect(alpha.listener.votes).toHaveLength(votes.length);
});

it('no secret, no name and no address of a player is in a span', async () => {
  const collector = await startFakeCollector();
  const headerKey = 'key-of-the-collector';
  const { deps, alpha, vote } = await openTraced(collector, {
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${headerKey}`,
    TRUST_PROXY: '1',
  });
  await startWorker(deps.config);
  const from = { 'x-forwarded-for': '203.0.113.77', 'user-agent': 'agent-of-a-player' };
  const { token } = await vote('SecretSteve', from);
  await vote('SecretSteve', from);
  await vote('SecretAlex', { ...from, 'idempotency-key': 'key-of-the-plugin' });
  await vote('SecretAlex', { ...from, 'idempotency-key': 'key-of-the-plugin' });
  await vote('a name that is too long for any player'.repeat(3), from);
  alpha.listener.behaviour = { answer: '{"status":"error","cause":"x","error":"no SecretKim here"}\r\n' };
  await vote('SecretKim', from);
  const codes = () =>
    collector.spans.filter(isAttempt).map(({ attributes }) => attributes['tallyport.attempt.code']);
  await vi.waitUntil(() => codes().some((code) => code !== 'acknowledged'), EVENTUALLY);
  await vi.waitUntil(() => collector.spans.filter(({ kind }) => kind === 'server').length >= 6, EVENTUALLY);

  const results = collector.spans.map(({ attributes }) => attributes['tallyport.vote.result']);
  expect(results).toEqual(expect.arrayContaining(['accepted', 'refused', 'replayed']));
  expect(collector.headers['x-key']).toBe(headerKey);
  const secrets = [
    /Secret(Steve|Alex|Kim)/i,
    'a name that is too long',
    token,
    alpha.listener.token,
    deps.config.SECRET_KEY,
    'in-the-url',
    'key-of-the-plugin',
    headerKey,
    '203.0.113.77',
    '127.0.0.1',
    'agent-of-a-player',
    'mongodb://',
    'redis://',
  ];
  for (const body of collector.bodies) {
    for (const secret of secrets) expect(body).not.toMatch(secret);
  }
});

it('a caller cannot choose the trace, and finds its own trace as a link', async () => {
  const collector = await startFakeCollector();
  const { vote } = await openTraced(collector, { OTEL_TRACES_SAMPLER: 'parentbased_always_on' });
  const traceId = 'ab'.repeat(16);
  await vote('Steve', { traceparent: `00-${traceId}-${'cd'.repeat(8)}-01` });
  await vote('Alex', { traceparent: 'nonsense' });
  await vi.waitUntil(() => collector.spans.filter(({ kind }) => kind === 'server').length === 2, EVENTUALLY);
  const requests = collector.spans.filter(({ kind }) => kind === 'server');
  expect(requests.map(({ parentId, links }) => [parentId, links])).toEqual([
    ['', [{ traceId, spanId: 'cd'.repeat(8) }]],
    ['', []],
  ]);
  expect(requests.map((span) => span.traceId)).not.toContain(traceId);
});

it('a vote that is not sampled has no trace, even if its caller requests one', async () => {
  const collector = await startFakeCollector();
  const { deps, alpha, vote } = await openTraced(collector, {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  });
  await vote('Steve', { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` });
  const stored = await deps.votes.findOne({ serverId: alpha.serverId });
  expect(stored).not.toHaveProperty('traceparent');
  const worker = await startWorker(deps.config);
  expect(await worker.waitForEvent('delivery.attempt')).not.toHaveProperty('traceId');
  await worker.stop();
  expect(collector.requests).toBe(0);
});

it('without an endpoint, a vote has no trace', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const { app } = await openWebAppOn(deps);
  const vote = await voter(deps, alpha, await app.listen({ host: '127.0.0.1', port: 0 }));
  const worker = await startWorker(deps.config);
  expect(await vote('Steve')).toMatchObject({ status: 200 });
  expect(await worker.waitForEvent('delivery.attempt')).not.toHaveProperty('traceId');
  expect(await deps.votes.findOne({ serverId: alpha.serverId })).not.toHaveProperty('traceparent');
});

it('a collector that hangs delays neither votes nor deliveries, and the worker still stops', async () => {
  const collector = await startFakeCollector();
  collector.behaviour = 'hang';
  const { deps, alpha, vote } = await openTraced(collector);
  const worker = await startWorker(deps.config);
  for (const username of ['Steve', 'Alex', 'Kim'])
    expect(await vote(username)).toMatchObject({ status: 200 });
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 3, EVENTUALLY);
  await vi.waitUntil(() => collector.requests > 0, EVENTUALLY);
  await worker.stop();
  expect(worker.lines.map(({ event }) => event)).toContain('process.stopped');
});
