import { ObjectId } from 'mongodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { after, DAY } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import type { Work } from '../../src/process/process.ts';
import { buildScheduler } from '../../workers/build-scheduler.ts';
import { buildWorkers } from '../../workers/build-workers.ts';
import { whileWorkIsSafe } from '../../workers/while-work-is-safe.ts';
import { openCli } from '../cli/tallyport.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { collectLines } from '../support/log-lines.ts';
import { signIn } from '../support/sign-in.ts';
import { startApp } from '../support/start-app.ts';
import { testDeps } from '../support/test-deps.ts';
import { getPage, openWebAppOn, sendForm } from '../support/web-app.ts';
import { setRestore } from './restoring.ts';

const NOT_READY = {
  error: 'The database is not prepared yet: try again in a few seconds.',
  code: 'database-not-ready',
};

test('the API takes no vote while a restore is unfinished, and goes on by itself', async () => {
  const tallyport = await startApp();
  onTestFinished(() => tallyport.close());
  const server = await tallyport.addServer();
  expect((await tallyport.vote(server, 'Steve')).status).toBe(200);
  await setRestore(tallyport.deps, {});
  const asked = () => tallyport.call(server, 'info');
  await vi.waitUntil(async () => (await asked()).status === 503, EVENTUALLY);
  const refused = await tallyport.vote(server, 'Alex');
  expect([refused.status, refused.headers.get('retry-after'), refused.body]).toMatchObject([
    503,
    '5',
    NOT_READY,
  ]);
  expect((await fetch(`${tallyport.url}/api/?action=status&key=x`)).status).toBe(503);
  expect(await tallyport.deps.votes.countDocuments()).toBe(1);
  await setRestore(tallyport.deps, { finishedAt: new Date() });
  await vi.waitUntil(async () => (await asked()).status === 200, EVENTUALLY);
  expect((await tallyport.vote(server, 'Alex')).status).toBe(200);
});

test('pages and forms answer 503 while a restore is unfinished when the process starts, and keep their styles', async () => {
  const deps = await testDeps();
  await setRestore(deps, {});
  const web = await openWebAppOn(deps);
  const page = await getPage(web, '/');
  expect([page.statusCode, page.headers['retry-after']]).toEqual([503, '5']);
  expect(page.body).toContain('The database is not prepared yet');
  const form = await sendForm(web, '/sign-up', { email: 'a@example.org', password: 'x' });
  expect(form.statusCode).toBe(503);
  const [, styles = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(page.body) ?? [];
  expect((await web.app.inject(styles)).statusCode).toBe(200);
  expect((await web.app.inject('/healthz')).statusCode).toBe(200);
  await setRestore(deps, { finishedAt: new Date() });
  await vi.waitUntil(async () => (await getPage(web, '/')).statusCode === 200, EVENTUALLY);
});

test('a worker and a scheduler do nothing while a restore is unfinished, and go on by themselves', async () => {
  const deps = await testDeps();
  const { userId } = await signIn({ deps });
  const requestedAt = after(new Date(), -8 * DAY);
  const deletion = {
    deletionId: new ObjectId(),
    requestedAt,
    dueAt: after(requestedAt, 7 * DAY),
    token: 't',
  };
  await deps.accountDeletions.insertOne({ _id: userId, ...deletion });
  await setRestore(deps, {});
  const { add, waitForEvent } = collectLines();
  const log = createLogger({ LOG_LEVEL: 'info' }, 'worker', { write: add });
  const stopping = new AbortController();
  const queues = ['settle-accounts'];
  const asked = vi.spyOn(deps.restores, 'findOne');
  const starting: Promise<Work>[] = [
    whileWorkIsSafe({ ...deps, log }, stopping.signal, () =>
      buildWorkers(deps, { metrics: createMetrics(deps), queues }),
    ),
    whileWorkIsSafe(deps, stopping.signal, (ending) => buildScheduler(deps, { stopping: ending })),
  ];
  const works = await Promise.all(starting);
  onTestFinished(async () => {
    stopping.abort();
    await Promise.all(works.map((work) => work.close()));
  });
  expect(await waitForEvent('restore.unfinished')).toMatchObject({
    msg: 'a restore into this database has not ended: wait for it, or run `tallyport restore` with the same backup again',
  });
  await deps.producer.add('settle-accounts', {});
  await vi.waitUntil(() => asked.mock.calls.length >= 6, EVENTUALLY);
  expect(await deps.queues['settle-accounts'].getJobCountByTypes('waiting', 'prioritized')).toBe(1);
  expect(await deps.queues['recompute-ranks'].getJobCountByTypes('waiting', 'prioritized')).toBe(0);
  expect(await deps.users.countDocuments({ _id: userId })).toBe(1);

  await setRestore(deps, { finishedAt: new Date() });
  await waitForEvent('restore.finished');
  await vi.waitUntil(async () => (await deps.users.countDocuments({ _id: userId })) === 0, EVENTUALLY);
});

test('commands are refused while a restore is unfinished', async () => {
  const cli = await openCli();
  onTestFinished(() => cli.close());
  await setRestore(cli.deps, {});
  for (const command of ['server list', 'migrate', 'backup /nowhere']) {
    expect(await cli.run(`${command} --json`)).toMatchObject({
      code: 1,
      json: { code: 'restore-unfinished' },
    });
  }
  expect((await cli.run('config check --connect')).stdout).toContain(
    'A restore into this database has not ended: wait for it, or run `tallyport restore` with the same backup again.',
  );
  await setRestore(cli.deps, { finishedAt: new Date() });
  expect(await cli.run('server list')).toMatchObject({ code: 0 });
});
