import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { pathOf, readPanels } from './operators-files.ts';

const run = promisify(execFile);

test.skipIf(!inject('promtool'))('promtool accepts the rules, their unit tests and the example', async () => {
  await run('promtool', ['check', 'rules', pathOf('prometheus/alerts.yml')]);
  await run('promtool', ['test', 'rules', pathOf('prometheus/alerts.test.yml')]);
  await run('promtool', ['check', 'config', pathOf('prometheus/scrape.example.yml')]);
});

test.skipIf(!inject('promtool'))('promtool accepts the expressions of the dashboard', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-dashboard-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'dashboard.yml');
  const rules = readPanels().flatMap(({ targets }) =>
    targets.map(({ expr }, n) => ({ record: `panel${n}`, expr: expr.replaceAll('$__rate_interval', '5m') })),
  );
  await writeFile(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
  await run('promtool', ['check', 'rules', file]);
});
