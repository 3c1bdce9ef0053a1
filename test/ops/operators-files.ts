import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

const folder = fileURLToPath(new URL('../../ops/', import.meta.url));

/** The path of a file in `ops/`. */
export function pathOf(name: string): string {
  return folder + name;
}

const rule = z.object({
  record: z.string().optional(),
  alert: z.string().optional(),
  expr: z.string(),
  labels: z.object({ severity: z.enum(['page', 'ticket']) }).optional(),
  annotations: z.object({ summary: z.string() }).optional(),
});
const rules = z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(rule) })) });

/** The rules of `ops/prometheus/alerts.yml`. */
export function readRules(): z.infer<typeof rule>[] {
  return rules
    .parse(parse(readFileSync(pathOf('prometheus/alerts.yml'), 'utf8')))
    .groups.flatMap((group) => group.rules);
}

const unitTests = z.object({
  tests: z.array(z.object({ input_series: z.array(z.object({ series: z.string() })) })),
});

/** The series that the unit tests of the rules put in. */
export function readSeries(): string[] {
  return unitTests
    .parse(parse(readFileSync(pathOf('prometheus/alerts.test.yml'), 'utf8')))
    .tests.flatMap(({ input_series }) => input_series.map(({ series }) => series));
}

/** What Grafana needs to import a dashboard, stricter than Grafana itself. */
const datasource = z.strictObject({
  type: z.literal('prometheus'),
  uid: z.string().regex(/^\$\{datasource\}$/),
});
const target = z.strictObject({
  refId: z.string().regex(/^[A-Z]$/),
  datasource,
  expr: z.string().min(1),
  legendFormat: z.string(),
  range: z.boolean(),
  instant: z.boolean().optional(),
});
const gridPos = z.strictObject({
  x: z.int().min(0).max(23),
  y: z.int().min(0),
  w: z.int().min(1).max(24),
  h: z.int().min(1),
});
const row = z.strictObject({
  type: z.literal('row'),
  title: z.string().min(1),
  collapsed: z.literal(false),
  gridPos,
  panels: z.tuple([]),
});
const graph = z.strictObject({
  type: z.enum(['stat', 'timeseries']),
  title: z.string().min(1),
  description: z.string(),
  datasource,
  gridPos,
  fieldConfig: z.looseObject({ defaults: z.looseObject({ unit: z.string() }) }),
  options: z.looseObject({}),
  targets: z.array(target).min(1),
});
const dashboard = z.looseObject({
  id: z.never().optional(),
  uid: z.string().min(1).max(40),
  title: z.string(),
  schemaVersion: z.int().min(36),
  templating: z.object({
    list: z.tuple([
      z.looseObject({
        name: z.literal('datasource'),
        type: z.literal('datasource'),
        query: z.literal('prometheus'),
      }),
    ]),
  }),
  panels: z.array(z.discriminatedUnion('type', [row, graph])),
});

/** The dashboard, validated. */
export function readDashboard() {
  return dashboard.parse(JSON.parse(readFileSync(pathOf('grafana/tallyport.json'), 'utf8')));
}

/** The panels with queries. */
export function readPanels() {
  return readDashboard().panels.flatMap((panel) => (panel.type === 'row' ? [] : [panel]));
}
