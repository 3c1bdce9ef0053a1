import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Labels, METRICS } from '../../src/process/metric-definitions.ts';
import { pathOf, readDashboard, readPanels, readRules, readSeries } from './operators-files.ts';
import { meets, readPromql } from './promql.ts';

/** All expressions of the rules and the dashboard, and the series of the rules' unit tests, each with its place. */
function expressions(): { where: string; expr: string }[] {
  return [
    ...readRules().map(({ alert, record, expr }) => ({ where: alert ?? record ?? '', expr })),
    ...readPanels().flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
    ...readSeries().map((expr) => ({ where: 'alerts.test.yml', expr })),
  ];
}

/** The labels of each sample that a process can expose, by the sample's name. */
function samples(): Map<string, Labels> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const own = Object.entries(METRICS).flatMap(([name, definition]): [string, Labels][] => {
    const { labels, kind } = definition;
    if (kind !== 'histogram') return [[name, labels]];
    // Prometheus 3 writes the bucket "10" as "10.0".
    const le = [...definition.buckets.flatMap((bucket) => [`${bucket}`, bucket.toFixed(1)]), '+Inf'];
    return [
      [`${name}_bucket`, { ...labels, le }],
      [`${name}_count`, labels],
      [`${name}_sum`, labels],
    ];
  });
  return new Map([...own, ...registry.getMetricsAsArray().map(({ name }): [string, Labels] => [name, {}])]);
}

test('every metric and label of the alerts and the dashboard exists', () => {
  const defined = samples();
  const recorded = new Set(readRules().map(({ record }) => record));
  const wrong: string[] = [];
  for (const { where, expr } of expressions()) {
    const { selectors, groupedBy } = readPromql(expr);
    for (const { metric, matchers } of selectors.filter(({ metric }) => metric !== 'up')) {
      if (recorded.has(metric)) continue;
      if (!defined.has(metric)) wrong.push(`${where}: no metric ${metric}`);
      // Prometheus adds `job` and `instance`, and `up` to each target.
      const labels: Labels = { job: 'any', instance: 'any', ...defined.get(metric) };
      for (const label of [...groupedBy, ...matchers.map((matcher) => matcher.label)])
        if (!Object.hasOwn(labels, label)) wrong.push(`${where}: ${metric} has no label ${label}`);
      for (const matcher of matchers) {
        const values = labels[matcher.label] ?? 'any';
        if (values !== 'any' && !values.some((value) => meets(matcher, value)))
          wrong.push(`${where}: ${metric} has no ${matcher.label} like ${matcher.value}`);
      }
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
