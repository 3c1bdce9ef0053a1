import { Writable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { createOperator } from '../../src/accounts/users.ts';
import { howToBegin } from '../../src/all-in-one/how-to-begin.ts';
import { MIGRATIONS } from '../../src/database/migrations.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { startHeartbeat } from '../../src/process/heartbeat.ts';
import { listProcesses } from '../../src/process/list-processes.ts';
import { sayHowToBegin, startProcess } from '../../src/process/process.ts';
import { unmigratedNames } from '../support/databases.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { signIn } from '../support/sign-in.ts';
import { testConfig, testDeps } from '../support/test-deps.ts';
import { getPage, openWebAppOn, textOf } from '../support/web-app.ts';

const OURS = MIGRATIONS.map(({ name }) => name);
const NOTHING = { close: async () => {} };
const never = new AbortController().signal;

test('each process says its kind and version while it runs, and no longer when it has stopped', async () => {
  const deps = await testDeps({ METRICS_PORT: '0' });
  const running = await startProcess('worker', { ...deps, close: async () => {} }, () => NOTHING, never);
  await vi.waitFor(
    async () =>
      expect((await listProcesses(deps)).processes).toMatchObject([
        { _id: deps.processId, kind: 'worker', version: manifest.version, isLost: false, migrations: OURS },
      ]),
    EVENTUALLY,
  );
  await running.close();
  expect((await listProcesses(deps)).processes).toEqual([]);
});

test('the admin area shows processes of two versions, one that is not seen, and the migrations that the newer one needs', async () => {
  const deps = await testDeps();
  const later = { version: '0.3.0', migrations: [...OURS, '0099-later-change'] };
  const worker = startHeartbeat({ ...deps, processId: 'machine-1:11:aaaa' }, 'worker', later);
  const web = startHeartbeat({ ...deps, processId: 'machine-2:22:bbbb' }, 'web');
  onTestFinished(async () => {
    await Promise.all([worker.close(), web.close()]);
  });
  await Promise.all([worker.beat(), web.beat()]);
  const lost = { kind: 'worker', version: '0.2.0', migrations: OURS };
  const seenAt = new Date(Date.now() - 60_000);
  await deps.runningProcesses.insertOne({ _id: 'machine-3:33:cccc', ...lost, startedAt: seenAt, seenAt });

  const found = await listProcesses(deps);
  expect(found).toMatchObject({ versions: [manifest.version, '0.3.0'], pending: ['0099-later-change'] });
  const app = await openWebAppOn(deps);
  const { headers } = await signIn(app, { role: 'operator' });
  const page = textOf((await getPage(app, '/operator/system', headers)).body);
  expect(page).toContain(`Processes of several versions run (${manifest.version} and 0.3.0)`);
  expect(page).toMatch(/machine-1:11 .*runs/);
  expect(page).toMatch(/machine-3:33 .*not seen since/);
  expect(page).toContain('No scheduler runs');
  expect(page).not.toContain('No worker runs');
  expect(page).toMatch(/Migrations are pending.* 0099-later-change/);
});

test('before `tallyport migrate`, a process leaves the database empty', async () => {
  const { mongodbUri: MONGODB_URI } = unmigratedNames();
  const deps = await openAppDeps({ ...testConfig(), MONGODB_URI }, 'test');
  onTestFinished(() => deps.close());
  const heartbeat = startHeartbeat(deps, 'web');
  await heartbeat.beat();
  await heartbeat.close();
  expect(await deps.mongo.db.listCollections().toArray()).toEqual([]);
  expect((await listProcesses(deps)).pending).toEqual(OURS);
});

test('while the site has no operator, each process says at its start how to begin, and no longer afterwards', async () => {
  const deps = await testDeps();
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = createLogger({ LOG_LEVEL: 'info' }, 'web', stream);
  await sayHowToBegin({ ...deps, log });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('run `tallyport setup-link`');
  await createOperator(deps, { email: 'ada@example.org' }, { userId: null, by: 'cli' });
  await sayHowToBegin({ ...deps, log });
  expect(lines).toHaveLength(1);
});

test('npm start prints the link at a terminal only, and nothing on a site with an operator', async () => {
  const deps = await testDeps();
  const command = 'npm run -s tallyport -- setup-link';
  const piped = await howToBegin(deps.config, { isTerminal: false });
  expect(piped).toContain(command);
  expect(piped).not.toContain('token');
  expect(await deps.verifications.countDocuments()).toBe(0);
  expect(await howToBegin(deps.config, { isTerminal: true })).toMatch(
    /^ {2}http:\/\/localhost:3000\/setup#token=[\w-]{32}$/m,
  );
  await createOperator(deps, { email: 'ada@example.org' }, { userId: null, by: 'cli' });
  expect(await howToBegin(deps.config, { isTerminal: true })).toBe(null);
});
