import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig, SETTINGS } from '../../src/platform/config.ts';
import { SECRETS, SECRETS_IN_FILES } from '../../src/platform/secret-settings.ts';
import { pathOf } from './operators-files.ts';

const run = promisify(execFile);

const CHART = pathOf('helm/tallyport');
const REQUIRED = {
  'image.repository': 'registry.example.org/tallyport',
  publicUrl: 'https://vote.example.org',
  trustProxy: '1',
  existingSecret: 'tallyport',
};
const EVERYTHING = {
  ...REQUIRED,
  'worker.autoscaling.enabled': 'true',
  'ingress.enabled': 'true',
  'ingress.className': 'nginx',
  'ingress.tlsSecret': 'tls',
  'podMonitor.enabled': 'true',
  'settings.MAIL_FROM': 'votes@example.org',
  'networkPolicy.from[0].namespaceSelector.matchLabels.name': 'ingress',
};

type Container = {
  command: string[];
  env: { name: string; value: string }[];
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: {
    httpGet: { path: string };
    periodSeconds: number;
    timeoutSeconds: number;
    failureThreshold: number;
  };
};
type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: { template?: { metadata: { labels: Record<string, string> }; spec: { containers: Container[] } } };
};

/** The settings that the chart sets itself, and those that the image and the chart's ports fix. */
const OF_THE_CHART = [
  'HOST',
  'METRICS_HOST',
  'METRICS_PORT',
  'PORT',
  'PUBLIC_URL',
  'SHUTDOWN_DELAY_MS',
  'TRUST_PROXY',
];

const set = (values: Record<string, string>) =>
  Object.entries(values).flatMap(([name, value]) => ['--set-string', `${name}=${value}`]);

async function render(values: Record<string, string>): Promise<Manifest[]> {
  // `--set` and not `--set-string`, where the chart tests a boolean.
  const args = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const { stdout } = await run('helm', ['template', 'listing', CHART, ...args]);
  return parseAllDocuments(stdout).map((document) => document.toJSON() as Manifest);
}

const containers = (manifests: Manifest[]) =>
  manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);

/** Throws when a manifest does not have the form that Kubernetes' API describes. */
async function validate(manifest: Manifest): Promise<void> {
  const { apiVersion, kind } = manifest;
  const models = await import(`kubernetes-models/${apiVersion}/${kind}`);
  new models[kind](manifest).validate();
}

describe.runIf(inject('helm'))('the Helm chart', () => {
  test('has no lint errors', async () => {
    await run('helm', ['lint', '--strict', '--quiet', CHART, ...set(REQUIRED)]);
  });

  test.each(Object.keys(REQUIRED))('says that %s must be set', async (missing) => {
    const { [missing as keyof typeof REQUIRED]: _, ...others } = REQUIRED;
    await expect(run('helm', ['template', 'listing', CHART, ...set(others)])).rejects.toThrow(
      `Set ${missing}`,
    );
  });

  test('refuses a value that it does not know', async () => {
    const args = set({ ...REQUIRED, 'worker.replica': '2' });
    await expect(run('helm', ['template', 'listing', CHART, ...args])).rejects.toThrow(/replica/);
  });

  test.each([
    'MAIL_FORM',
    'mail_from',
    'SMTP_URI',
  ])('refuses the setting %s, which no process reads', async (name) => {
    const args = set({ ...REQUIRED, [`settings.${name}`]: 'x' });
    await expect(run('helm', ['template', 'listing', CHART, ...args])).rejects.toThrow(name);
  });

  test.each([
    ...OF_THE_CHART,
    ...SECRETS,
  ])('refuses the setting %s, which the chart sets itself or which is a secret', async (name) => {
    const args = set({ ...REQUIRED, [`settings.${name}`]: '1' });
    await expect(run('helm', ['template', 'listing', CHART, ...args])).rejects.toThrow(
      new RegExp(`settings.*${name}`, 's'),
    );
  });

  test('sets each setting once, so that none of `settings` can replace its own', async () => {
    const own = containers(await render(REQUIRED)).flatMap(({ env }) => env.map(({ name }) => name));
    expect(OF_THE_CHART).toEqual(expect.arrayContaining([...new Set(own)]));
  });

  test.each([
    ['publicUrl', 'vote.example.org'],
    ['publicUrl', 'ftp://vote.example.org'],
    ['trustProxy', 'true'],
  ])('refuses %s=%s', async (name, value) => {
    const expected = new RegExp(`at '/${name}'`);
    await expect(render({ ...REQUIRED, [name]: value })).rejects.toThrow(expected);
    const args = set({ ...REQUIRED, [name]: value });
    await expect(run('helm', ['template', 'listing', CHART, ...args])).rejects.toThrow(expected);
  });

  test('takes every other setting, and passes on those of Node.js and OpenTelemetry', async () => {
    const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8'));
    const names = SETTINGS.filter((name) => !OF_THE_CHART.includes(name) && !SECRETS.has(name));
    expect(schema.definitions.setting.enum).toEqual(
      [...names, ...SECRETS_IN_FILES.map((name) => `${name}_FILE`)].toSorted(),
    );
    await render({
      ...REQUIRED,
      'settings.NODE_EXTRA_CA_CERTS': '/ca.pem',
      'settings.OTEL_RESOURCE_ATTRIBUTES': 'a',
    });
  });

  test('has manifests that Kubernetes accepts, with as few and as many parts as possible', async () => {
    const [few, many] = [await render(REQUIRED), await render(EVERYTHING)];
    const kinds = many.map(({ kind }) => kind);
    expect(kinds).toEqual(
      expect.arrayContaining(['HorizontalPodAutoscaler', 'Ingress', 'PodMonitor', 'Job']),
    );
    // Not a resource of Kubernetes itself.
    for (const manifest of [...few, ...many].filter(({ kind }) => kind !== 'PodMonitor'))
      await validate(manifest);
    const [first] = many.filter(({ kind }) => kind === 'Deployment');
    await expect(validate({ ...first, spec: { replicas: 'two' } } as unknown as Manifest)).rejects.toThrow(
      /replicas/,
    );
  });

  test('limits the connections, the requests and the bodies of a client at the Ingress, and operators change that', async () => {
    const annotationsOf = async (values: Record<string, string>) => {
      const ingress = (await render(values)).find(({ kind }) => kind === 'Ingress');
      const { metadata } = ingress as unknown as { metadata: { annotations: Record<string, string> } };
      return metadata.annotations;
    };
    const nginx = 'nginx.ingress.kubernetes.io';
    const limits = {
      [`${nginx}/limit-connections`]: '100',
      [`${nginx}/limit-rps`]: '50',
      [`${nginx}/limit-burst-multiplier`]: '10',
      [`${nginx}/proxy-body-size`]: '2m',
    };
    expect(await annotationsOf(EVERYTHING)).toEqual(limits);
    const own = { ...EVERYTHING, 'ingress.annotations.cert-manager\\.io/issuer': 'ours' };
    expect(await annotationsOf(own)).toEqual({ ...limits, 'cert-manager.io/issuer': 'ours' });
  });

  test('keeps web pods in the Service for 30 s, while MongoDB fails over, and not longer if a pod hangs', async () => {
    const [web] = containers(await render(REQUIRED)).filter(({ ports = [] }) =>
      ports.some(({ name }) => name === 'http'),
    );
    const { httpGet, periodSeconds = 0, timeoutSeconds, failureThreshold = 0 } = web?.readinessProbe ?? {};
    expect(httpGet?.path).toBe('/readyz');
    expect(periodSeconds * failureThreshold).toBe(30);
    expect(timeoutSeconds).toBeLessThanOrEqual(periodSeconds);
  });

  test('gives each scraped pod the label by which an alert notices that its process is missing', async () => {
    const manifests = await render(EVERYTHING);
    const components = manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec.template?.metadata.labels['app.kubernetes.io/component']);
    expect(components).toEqual(expect.arrayContaining(['web', 'worker', 'scheduler']));
    const monitor = manifests.find(({ kind }) => kind === 'PodMonitor');
    const relabelling = {
      sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_component'],
      targetLabel: 'process',
    };
    expect(monitor?.spec).toMatchObject({ podMetricsEndpoints: [{ relabelings: [relabelling] }] });
  });

  test('starts the processes of the Procfile with settings that they accept', async () => {
    const all = containers(await render(EVERYTHING));
    const procfile = readFileSync(new URL('../../Procfile', import.meta.url), 'utf8');
    expect(all).toHaveLength(4);
    for (const { command, env, ports = [] } of all) {
      expect(procfile).toContain(command.join(' '));
      expect(existsSync(new URL(`../../${command[1]}`, import.meta.url))).toBe(true);
      const config = loadConfig({
        NODE_ENV: 'production',
        MONGODB_URI: 'mongodb://mongodb/tallyport',
        REDIS_URL: 'redis://redis',
        SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
        SMTP_URL: 'smtp://mail',
        ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      });
      expect(config).toMatchObject({
        TRUST_PROXY: 1,
        METRICS_HOST: '0.0.0.0',
        MAIL_FROM: 'votes@example.org',
      });
      for (const { name, containerPort } of ports) {
        expect(containerPort).toBe(name === 'http' ? config.PORT : config.METRICS_PORT);
      }
    }
  });
});
