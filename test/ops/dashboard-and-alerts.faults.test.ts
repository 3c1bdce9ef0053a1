import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildApp } from '../../src/app.ts';
import { OUTCOMES } from '../../src/listeners/outcomes.ts';
import { watchReadiness } from '../../src/process/health.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { listServer, startGameServer } from '../probing/probing-bench.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps } from '../workers/game-server.ts';
import { pathOf, readDashboard, readPanels, readRules } from './operators-files.ts';
import { meets, readPromql, readSamples } from './promql.ts';

const run = promisify(execFile);

/** All expressions of the rules and the dashboard, with the name of their rule or panel. */
function expressions(): { where: string; expr: string }[] {
  return [
    ...readRules().map(({ alert, record, expr }) => ({ where: alert ?? record ?? '', expr })),
    ...readPanels().flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ];
}

/** What a web process, a worker and a scheduler expose after a vote, its delivery, a failed delivery and a probe. */
async function scrapeAllProcesses(): Promise<string> {
  const deps = await castingDeps();
  const [alpha, away, game] = await Promise.all([
    addGameServer(deps),
    addGameServer(deps, { name: 'Away' }),
    startGameServer(),
  ]);
  await Promise.all([listServer(deps, game.port), away.listener.stop()]);
  const metrics = createMetrics(deps);
  const stopping = new AbortController();
  const app = await buildApp(deps, {
    metrics,
    readiness: watchReadiness(deps, stopping.signal),
    stopping: stopping.signal,
  });
  onTestFinished(() => app.close());
  const url = (await app.listen({ host: '127.0.0.1', port: 0 })) + deps.config.basePath;
  for (const { serverId } of [alpha, away]) {
    const { token } = await issueToken(deps, { serverId, name: 'site' });
    const answer = await fetch(`${url}/api/v1/servers/${serverId}/vote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'Steve' }),
    });
    expect(answer.status).toBe(200);
  }
  const processes = await Promise.all([startWorker(deps.config), startScheduler(deps.config)]);
  return vi.waitFor(async () => {
    const scraped = processes.map(async (process) => {
      const { address } = await process.waitForEvent('process.endpoints');
      return (await fetch(`${address}/metrics`)).text();
    });
    const text = (await Promise.all([metrics.text(), ...scraped])).join('\n');
    for (const happened of [
      /^tallyport_votes_total\{result="accepted"\} 2$/m,
      /^tallyport_delivery_delay_seconds_count\{queue="test-listeners"\} 1$/m,
      /^tallyport_delivery_attempts_total\{class="transient"/m,
      /^tallyport_probes_total\{outcome="answered"\}/m,
      /^tallyport_ranks_age_seconds \d/m,
    ])
      expect(text).toMatch(happened);
    return text;
  }, EVENTUALLY);
}

test('every metric and label of the alerts and the dashboard exists', async () => {
  const samples = readSamples(await scrapeAllProcesses());
  const recorded = new Set(readRules().map(({ record }) => record));
  /** Prometheus adds `job` and `instance`, and `up` to each target. */
  const isKnownLabel = (metric: string, label: string) =>
    ['job', 'instance'].includes(label) || samples.get(metric)?.some((sample) => label in sample);

  const wrong: string[] = [];
  for (const { where, expr } of expressions()) {
    const { selectors, groupedBy } = readPromql(expr);
    for (const { metric, matchers } of selectors.filter(({ metric }) => metric !== 'up')) {
      if (recorded.has(metric)) continue;
      if (!samples.has(metric)) wrong.push(`${where}: no metric ${metric}`);
      for (const matcher of matchers) {
        const { label, value } = matcher;
        if (!isKnownLabel(metric, label)) wrong.push(`${where}: ${metric} has no label ${label}`);
        // Any status may be answered, and any outcome may happen.
        const happens = samples.get(metric)?.some((sample) => meets(matcher, sample[label] ?? ''));
        const mayHappen =
          ['status', 'job'].includes(label) || (label === 'code' && Object.keys(OUTCOMES).includes(value));
        if (!happens && !mayHappen) wrong.push(`${where}: ${metric} has no ${label} like ${value}`);
      }
      for (const label of groupedBy.filter((label) => !isKnownLabel(metric, label)))
        wrong.push(`${where}: ${metric} has no label ${label}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('the dashboard can be imported: a variable names the data source, and no two panels overlap', () => {
  const { panels } = readDashboard();
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  const titles = panels.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
});

test('a legend names only labels that its expression keeps', () => {
  const wrong = readPanels().flatMap(({ title, targets }) =>
    targets.flatMap(({ expr, legendFormat }) => {
      const kept = ['instance', ...readPromql(expr).groupedBy];
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      return named.filter((label) => !kept.includes(label)).map((label) => `${title}: ${label}`);
    }),
  );
  expect(wrong).toEqual([]);
});

test('each alert has a severity, a summary, an entry in the documentation and a unit test', async () => {
  const runbook = await readFile('docs/operating/when-something-is-wrong.md', 'utf8');
  const unitTests = await readFile(pathOf('prometheus/alerts.test.yml'), 'utf8');
  for (const { alert, labels, annotations } of readRules()) {
    if (!alert) continue;
    expect([alert, labels?.severity, annotations?.summary]).not.toContain(undefined);
    expect(runbook).toContain(`| \`${alert}\` |`);
    expect(unitTests).toMatch(new RegExp(`alertname: ${alert}\\n +exp_alerts:\\n +- exp_labels`));
  }
});

test('the example gives each process the label by which an alert notices that it is missing', () => {
  const { expr } = readRules().find(({ alert }) => alert === 'TallyportProcessMissing') ?? { expr: '' };
  const noticed = [...expr.matchAll(/absent\(up\{job="(\w+)",process="(\w+)"\}\)/g)].map(
    ([, job, process]) => ({ job, process }),
  );
  expect(noticed).toEqual(['web', 'worker', 'scheduler'].map((process) => ({ job: 'tallyport', process })));

  const example = parse(readFileSync(pathOf('prometheus/scrape.example.yml'), 'utf8'));
  expect(example.scrape_configs).toEqual([
    expect.objectContaining({
      job_name: 'tallyport',
      dns_sd_configs: [expect.objectContaining({ names: noticed.map(({ process }) => process) })],
      relabel_configs: [{ source_labels: ['__meta_dns_name'], regex: '(.+)', target_label: 'process' }],
    }),
  ]);
});

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
