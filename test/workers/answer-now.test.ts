import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import type { Question } from '../../src/platform/worker-answers.ts';
import { answerNow } from '../../src/workflows/answer-now.ts';
import { askerWith, startAnswering } from '../support/answering.ts';
import { deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const questionOf = (serverId: ObjectId, askedAt = new Date()): Question => ({
  task: 'test-listener',
  serverId: serverId.toHexString(),
  askId: randomUUID(),
  askedAt: askedAt.toISOString(),
});

test('the steps and the result of a worker reach the process that asked', async () => {
  const { deps, serverId, listener } = await deliveryBench();
  startAnswering(deps);
  const steps: string[] = [];
  const ids = { serverId: serverId.toHexString() };
  const ended = await answerNow(deps, 'test-listener', ids, (step) => steps.push(step));
  expect(ended).toMatchObject({
    kind: 'answered',
    result: { kind: 'diagnosed', diagnosis: { outcome: 'delivered' } },
  });
  expect(steps).toEqual([
    'name-resolution',
    'address-policy',
    'connecting',
    'greeting',
    'protocol-version',
    'key-or-token',
    'acknowledgement',
  ]);
  expect(listener.votes).toHaveLength(1);
});

test('many questions at once each get their own answer', async () => {
  const { deps, serverId } = await deliveryBench();
  startAnswering(deps);
  const own = { serverId: serverId.toHexString() };
  const other = { serverId: new ObjectId().toHexString() };
  const ended = await Promise.all(
    Array.from({ length: 20 }, (_, n) => answerNow(deps, 'test-listener', n % 2 ? own : other)),
  );
  const kinds = ended.map((one) => one.kind === 'answered' && one.result.kind);
  expect(kinds).toEqual(Array.from({ length: 20 }, (_, n) => (n % 2 ? 'diagnosed' : 'refused')));
});

test('without a worker a question ends, and leaves no job that could run later', async () => {
  const { deps, serverId, listener } = await deliveryBench();
  const answers = askerWith(deps, { beginMs: 100 });
  expect(await answers.ask(questionOf(serverId))).toEqual({ kind: 'no-worker' });
  const { waiting, active, delayed } = await deps.queues['answer-now'].getJobCounts();
  expect({ waiting, active, delayed }).toEqual({ waiting: 0, active: 0, delayed: 0 });
  expect(listener.connections).toBe(0);
});

test('if all workers are busy, a question waits until its deadline', async () => {
  const { deps, serverId, listener } = await deliveryBench();
  startAnswering({ ...deps, config: { ...deps.config, ANSWER_CONCURRENCY: 1 } });
  listener.stall();
  const first = answerNow(deps, 'test-listener', { serverId: serverId.toHexString() });
  await vi.waitUntil(() => listener.held === 1, EVENTUALLY);
  const answers = askerWith(deps, { beginMs: 50, deadlineMs: 300 });
  expect(await answers.ask(questionOf(serverId))).toEqual({ kind: 'too-late' });
  listener.release();
  expect(await first).toMatchObject({ kind: 'answered' });
  expect(listener.connections).toBe(1);
});

test('a question that is older than its deadline is dropped and not run', async () => {
  const { deps, serverId, listener } = await deliveryBench();
  const old = questionOf(serverId, new Date(Date.now() - 21_000));
  const young = questionOf(serverId, new Date(Date.now() - 10_000));
  startAnswering(deps);
  expect(await deps.answers.ask(old)).toEqual({ kind: 'too-late' });
  expect(listener.connections).toBe(0);
  expect(await deps.answers.ask(young)).toMatchObject({ kind: 'answered' });
});

test('Redis stores the ids and the result of a question, and never a secret', async () => {
  const { deps, serverId, listener } = await deliveryBench();
  listener.behaviour = { answer: `{"status":"error","error":"wrong: ${listener.token}"}` };
  startAnswering(deps);
  expect(await answerNow(deps, 'test-listener', { serverId: serverId.toHexString() })).toMatchObject({
    kind: 'answered',
  });
  const queue = deps.queues['answer-now'];
  const events = await deps.producerRedis.xrange(queue.toKey('events'), '-', '+');
  const jobs = await queue.getJobs();
  const stored = JSON.stringify([events, jobs.map(({ data, returnvalue }) => ({ data, returnvalue }))]);
  expect(stored).toContain(serverId.toHexString());
  expect(stored).toContain('diagnosed');
  expect(stored).not.toContain(listener.token);
});

test('a stopping process ends its open questions', async () => {
  const { deps, serverId, listener } = await deliveryBench();
  startAnswering(deps);
  listener.stall();
  const asked = answerNow(deps, 'test-listener', { serverId: serverId.toHexString() });
  await vi.waitUntil(() => listener.held === 1, EVENTUALLY);
  deps.answers.giveUp();
  expect(await asked).toEqual({ kind: 'stopped' });
  listener.release();
});
