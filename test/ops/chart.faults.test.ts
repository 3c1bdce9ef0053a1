import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/platform/config.ts';
import { SECRETS, SECRETS_IN_FILES } from '../../src/platform/settings/definitions.ts';
import { OF_THE_CHART } from '../../tools/generated/settings.ts';
import { pathOf } from './operators-files.ts';

const run = promisify(execFile);

const CHART = pathOf('helm/tallyport');
const REQUIRED = {
  'image.repository': 'registry.example.org/tallyport',
  publicUrl: 'https://vote.example.org',
  trustProxy: '1',
  'secrets.web': 'of-web',
  'secrets.worker': 'of-worker',
  'secrets.scheduler': 'of-scheduler',
  'secrets.migration': 'of-migration',
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
  'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name': 'monitoring',
  'networkPolicy.mongodb.to[0].podSelector.matchLabels.app': 'mongodb',
  'networkPolicy.redis.to[0].podSelector.matchLabels.app': 'redis',
  'networkPolicy.mail.to[0].ipBlock.cidr': '10.0.0.25/32',
  'networkPolicy.services[0].to[0].podSelector.matchLabels.app': 'collector',
};

type SecretKey = { name: string; key: string; optional?: boolean };
type Container = {
  name: string;
  command: string[];
  env: { name: string; value: string; valueFrom?: { secretKeyRef: SecretKey } }[];
  envFrom?: unknown[];
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: {
    httpGet: { path: string };
    periodSeconds: number;
    timeoutSeconds: number;
    failureThreshold: number;
  };
};
type PodSpec = {
  affinity?: object;
  containers: Container[];
  topologySpreadConstraints?: { topologyKey: string; labelSelector: { matchLabels: object } }[];
  volumes: { name: string; emptyDir?: { sizeLimit?: string } }[];
};
type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    template?: {
      metadata: { labels: Record<string, string> };
      spec: PodSpec;
    };
  };
};
type Rule = { ports?: { port: number | string }[]; to?: object[]; from?: object[] };
type Policy = {
  podSelector: { matchLabels: Record<string, string> };
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
};

/** What the Secrets of an installation have. */
const SECRET_VALUES: Record<string, string> = {
  MONGODB_URI: 'mongodb://mongodb/tallyport',
  REDIS_URL: 'redis://redis',
  SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
  SMTP_URL: 'smtp://mail',
  DISCORD_CLIENT_SECRET: 'secret',
  OIDC_CLIENT_SECRET: 'secret',
};

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

/** The pods by the name of their process. */
const pods = (manifests: Manifest[]): Record<string, PodSpec> =>
  Object.fromEntries(
    manifests.flatMap(({ spec: { template } }) =>
      template ? [[template.spec.containers[0]?.name, template.spec]] : [],
    ),
  );

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
    const own = containers(await render(REQUIRED)).flatMap(({ env }) =>
      env.filter(({ valueFrom }) => !valueFrom).map(({ name }) => name),
    );
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

  test('passes on settings of Node.js and OpenTelemetry', async () => {
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
        ...Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
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

  test('gives each process its own Secret, and of it only what that process needs', async () => {
    const needed = ['SECRET_KEY', 'MONGODB_URI', 'REDIS_URL'];
    const secretsOf = Object.fromEntries(
      containers(await render(REQUIRED)).map(({ name, env, envFrom }) => {
        expect(envFrom).toBeUndefined();
        const references = env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
        const must = references.filter(({ optional }) => !optional).map(({ key }) => key);
        expect(must).toEqual(needed);
        const may = references.filter(({ optional }) => optional).map(({ key }) => key);
        return [name, { from: [...new Set(references.map((one) => one.name))], may }];
      }),
    );
    const traces = 'OTEL_EXPORTER_OTLP_HEADERS';
    expect(secretsOf).toEqual({
      web: {
        from: ['of-web'],
        may: ['SECRET_KEY_PREVIOUS', 'SMTP_URL', 'DISCORD_CLIENT_SECRET', 'OIDC_CLIENT_SECRET', traces],
      },
      worker: { from: ['of-worker'], may: ['SECRET_KEY_PREVIOUS', 'SMTP_URL', traces] },
      scheduler: { from: ['of-scheduler'], may: [traces] },
      migrate: { from: ['of-migration'], may: [] },
    });
    // Every secret in a file belongs to some process.
    expect(new Set([...needed, ...Object.values(secretsOf).flatMap(({ may }) => may)])).toEqual(
      new Set(SECRETS_IN_FILES),
    );
  });

  test('lets every process start while only web has the secrets of sign-in at other sites', async () => {
    const signIn = {
      'settings.DISCORD_CLIENT_ID': 'id',
      'settings.OIDC_ISSUER': 'https://login.example.org',
      'settings.OIDC_CLIENT_ID': 'tallyport',
    };
    for (const { name, env } of containers(await render({ ...REQUIRED, ...signIn }))) {
      // As Kubernetes does, with all Secrets full.
      const given = env.map(({ name, value }) => [name, value ?? SECRET_VALUES[name]]);
      const config = loadConfig({
        NODE_ENV: 'production',
        MAIL_FROM: 'a@b.example',
        ...Object.fromEntries(given),
      });
      expect(config.OIDC_CLIENT_ID).toBe(name === 'web' ? 'tallyport' : undefined);
    }
  });

  test('limits the size of /tmp', async () => {
    for (const { spec } of await render(REQUIRED)) {
      for (const { emptyDir } of spec.template?.spec.volumes ?? []) expect(emptyDir?.sizeLimit).toBe('64Mi');
    }
  });

  describe('with files', () => {
    const FILES = {
      'extraVolumes[0].name': 'look',
      'extraVolumes[0].configMap.name': 'look',
      'extraVolumeMounts[0].name': 'look',
      'extraVolumeMounts[0].mountPath': '/etc/tallyport',
      'extraVolumeMounts[0].readOnly': 'true',
      'settings.LOGO': '/etc/tallyport/logo.svg',
      'settings.SITE_PAGES_DIR': '/etc/tallyport',
    };
    /** The Secret of each process as files: nothing of it is in the environment. */
    const SECRET_FILES = Object.fromEntries(
      ['web', 'worker', 'scheduler', 'migration'].flatMap((process) => [
        [`${process}.extraVolumes[0].name`, 'secrets'],
        [`${process}.extraVolumes[0].secret.secretName`, `of-${process}`],
        [`${process}.extraVolumeMounts[0].name`, 'secrets'],
        [`${process}.extraVolumeMounts[0].mountPath`, '/run/secrets'],
      ]),
    );
    const inFiles = (names: readonly string[]) =>
      Object.fromEntries(
        names.map((name) => [`settings.${name}_FILE`, `/run/secrets/${name.toLowerCase()}`]),
      );
    const variablesOf = ({ containers: [container] }: PodSpec) =>
      container?.env.map(({ name }) => name) ?? [];

    test('mounts those of the logo and of pages in every pod, as Kubernetes accepts it', async () => {
      const manifests = await render({ ...EVERYTHING, ...FILES });
      for (const manifest of manifests.filter(({ kind }) => kind !== 'PodMonitor')) await validate(manifest);
      const all = Object.values(pods(manifests));
      expect(all).toHaveLength(4);
      for (const pod of all) {
        expect(pod.volumes).toContainEqual({ name: 'look', configMap: { name: 'look' } });
        expect(pod.containers[0]?.volumeMounts).toEqual([
          { name: 'tmp', mountPath: '/tmp' },
          { name: 'look', mountPath: '/etc/tallyport', readOnly: true },
        ]);
        expect(variablesOf(pod)).toEqual(expect.arrayContaining(['LOGO', 'SITE_PAGES_DIR']));
      }
    });

    test('mounts those of one process in its own pods, beside those of all', async () => {
      for (const [name, pod] of Object.entries(
        pods(await render({ ...REQUIRED, ...FILES, ...SECRET_FILES })),
      )) {
        const secretName = `of-${name.replace('migrate', 'migration')}`;
        expect(pod.volumes.map((volume) => volume.name)).toEqual(['tmp', 'look', 'secrets']);
        expect(pod.volumes).toContainEqual({ name: 'secrets', secret: { secretName } });
      }
    });

    test('reads a secret from its file and not from the Secret, in the processes that need it', async () => {
      const { image, publicUrl, trustProxy } = {
        image: REQUIRED['image.repository'],
        publicUrl: REQUIRED.publicUrl,
        trustProxy: REQUIRED.trustProxy,
      };
      const values = { 'image.repository': image, publicUrl, trustProxy, ...SECRET_FILES };
      const shown = pods(await render({ ...values, ...inFiles(SECRETS_IN_FILES) }));
      const names = Object.fromEntries(
        Object.entries(shown).map(([name, pod]) => {
          for (const { valueFrom } of pod.containers[0]?.env ?? []) expect(valueFrom).toBeUndefined();
          const files = variablesOf(pod).filter((variable) => variable.endsWith('_FILE'));
          return [name, files.map((variable) => variable.replace(/_FILE$/, '')).toSorted()];
        }),
      );
      const all = ['MONGODB_URI', 'REDIS_URL', 'SECRET_KEY'];
      const traces = 'OTEL_EXPORTER_OTLP_HEADERS';
      expect(names).toEqual({
        web: SECRETS_IN_FILES.toSorted(),
        worker: [...all, traces, 'SECRET_KEY_PREVIOUS', 'SMTP_URL'].toSorted(),
        scheduler: [...all, traces].toSorted(),
        migrate: all,
      });
      // One secret in a file and the others in the Secret: each of them comes from one place.
      for (const pod of Object.values(pods(await render({ ...REQUIRED, ...inFiles(['SECRET_KEY']) })))) {
        const once = variablesOf(pod).filter((name) => /^(SECRET_KEY|MONGODB_URI)(_FILE)?$/.test(name));
        expect(once.toSorted()).toEqual(['MONGODB_URI', 'SECRET_KEY_FILE']);
      }
    });

    test('asks for the Secret of a process while one of its secrets is in no file', async () => {
      const { 'secrets.worker': _, ...others } = REQUIRED;
      await expect(render({ ...others, ...inFiles(['SECRET_KEY', 'MONGODB_URI']) })).rejects.toThrow(
        'Set secrets.worker',
      );
    });
  });

  describe('places its pods', () => {
    test('of web and of workers on different nodes where it can, each counted by itself', async () => {
      const all = await render(REQUIRED);
      const spread = Object.fromEntries(
        Object.entries(pods(all)).map(([name, { topologySpreadConstraints = [] }]) => [
          name,
          topologySpreadConstraints,
        ]),
      );
      for (const process of ['web', 'worker']) {
        const { spec } = all.find(
          ({ kind, metadata }) => kind === 'Deployment' && metadata.name === `listing-${process}`,
        ) as Manifest;
        const [constraint, ...more] = spread[process] ?? [];
        expect(more).toEqual([]);
        expect(constraint).toMatchObject({
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: {
            matchLabels: { 'app.kubernetes.io/component': process, 'app.kubernetes.io/instance': 'listing' },
          },
        });
        // The selector finds the pods of this Deployment.
        expect(spec.template?.metadata.labels).toMatchObject(constraint?.labelSelector.matchLabels ?? {});
      }
      expect([spread.scheduler, spread.migrate]).toEqual([[], []]);
    });

    test('as the operator says for one process: another constraint, or none', async () => {
      const own = {
        'worker.topologySpreadConstraints[0].maxSkew': '2',
        'worker.topologySpreadConstraints[0].topologyKey': 'topology.kubernetes.io/zone',
        'worker.topologySpreadConstraints[0].whenUnsatisfiable': 'DoNotSchedule',
        'web.topologySpreadConstraints': 'null',
      };
      const manifests = await render({ ...REQUIRED, ...own });
      for (const manifest of manifests) await validate(manifest);
      const { web, worker } = pods(manifests);
      expect(web).not.toHaveProperty('topologySpreadConstraints');
      expect(worker?.topologySpreadConstraints).toMatchObject([
        {
          maxSkew: 2,
          topologyKey: 'topology.kubernetes.io/zone',
          labelSelector: { matchLabels: { 'app.kubernetes.io/component': 'worker' } },
        },
      ]);
    });

    test('with one affinity each: that of the process, or else the common one', async () => {
      const weight = (name: string, value: string) => ({
        [`${name}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight`]: value,
        [`${name}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].key`]:
          'metadata.name',
        [`${name}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].operator`]:
          'Exists',
      });
      const manifests = await render({
        ...REQUIRED,
        ...weight('affinity', '1'),
        ...weight('web.affinity', '2'),
      });
      for (const manifest of manifests) await validate(manifest);
      const weights = Object.entries(pods(manifests)).map(([name, { affinity }]) => [
        name,
        [...JSON.stringify(affinity).matchAll(/"weight":(\d)/g)].map(([, weight]) => weight).join(),
      ]);
      expect(Object.fromEntries(weights)).toEqual({ web: '2', worker: '1', scheduler: '1', migrate: '1' });
    });
  });

  describe('in its network policies', () => {
    async function policies(values: Record<string, string>): Promise<Record<string, Policy>> {
      const all = (await render(values)).filter(({ kind }) => kind === 'NetworkPolicy');
      return Object.fromEntries(
        all.map(({ spec }) => {
          const policy = spec as unknown as Policy;
          expect(policy.policyTypes).toEqual(['Ingress', 'Egress']);
          return [policy.podSelector.matchLabels['app.kubernetes.io/component'], policy];
        }),
      );
    }
    const portsTo = ({ egress = [] }: Policy, peer: string) =>
      egress
        .filter(({ to = [] }) => JSON.stringify(to).includes(peer))
        .flatMap(({ ports = [] }) => ports.map(({ port }) => port));

    const reaches = ({ egress = [] }: Policy, peer: string) =>
      egress.some(({ to = [] }) => JSON.stringify(to).includes(peer));

    test('only name look-up may go to any address', async () => {
      for (const values of [REQUIRED, EVERYTHING]) {
        const all = Object.values(await policies(values));
        expect(all).toHaveLength(4);
        for (const { egress = [] } of all) {
          for (const { to, ports = [] } of egress)
            if (!to) expect(ports.map(({ port }) => port)).toEqual([53, 53]);
        }
      }
    });

    test('each process reaches the databases, and workers the mail server, at the named peers', async () => {
      const { web, worker, scheduler, migrate } = (await policies(EVERYTHING)) as Record<string, Policy>;
      for (const policy of [web, worker, scheduler, migrate] as Policy[]) {
        expect(portsTo(policy, '"mongodb"')).toEqual([27017]);
        expect(portsTo(policy, '"redis"')).toEqual([6379, 26379]);
      }
      expect(portsTo(worker as Policy, '10.0.0.25')).toEqual([465, 587]);
      for (const policy of [web, scheduler, migrate] as Policy[]) {
        expect(portsTo(policy, '10.0.0.25')).toEqual([]);
        expect(reaches(policy, '0.0.0.0/0')).toBe(false);
      }
      expect(reaches(worker as Policy, '0.0.0.0/0')).toBe(true);
    });

    test('a web process reaches public addresses only on port 443, and only for sign-in at other sites', async () => {
      for (const signIn of [
        { 'settings.DISCORD_CLIENT_ID': '1234' },
        { 'settings.OIDC_ISSUER': 'https://id.example.org' },
        { 'settings.STEAM_SIGN_IN': 'on' },
      ]) {
        const { web, scheduler } = (await policies({ ...EVERYTHING, ...signIn })) as Record<string, Policy>;
        expect(portsTo(web as Policy, '0.0.0.0/0')).toEqual([443]);
        expect(reaches(scheduler as Policy, '0.0.0.0/0')).toBe(false);
      }
      // Databases at public addresses: their ports alone.
      const { web } = (await policies(REQUIRED)) as Record<string, Policy>;
      expect(portsTo(web as Policy, '0.0.0.0/0')).toEqual([27017, 6379, 26379]);
      expect(web?.egress?.filter(({ to, ports = [] }) => to && ports.length === 0)).toEqual([]);
    });

    test('workers reach the ranges of ALLOWED_PRIVATE_RANGES on every port, and no other private ones', async () => {
      const allowed = { 'settings.ALLOWED_PRIVATE_RANGES': '10.20.0.0/16\\, fd12::/64\\,' };
      const { worker, ...others } = await policies({ ...EVERYTHING, ...allowed });
      const onEveryPort = (policy: Policy | undefined) =>
        (policy?.egress ?? [])
          .filter(({ to, ports = [] }) => ports.length === 0 && JSON.stringify(to).includes('ipBlock'))
          .map(({ to }) => to);
      expect(onEveryPort(worker)).toEqual([
        [
          {
            ipBlock: { cidr: '0.0.0.0/0', except: expect.arrayContaining(['10.0.0.0/8', '192.168.0.0/16']) },
          },
          { ipBlock: { cidr: '::/0', except: expect.arrayContaining(['fc00::/7']) } },
        ],
        [{ ipBlock: { cidr: '10.20.0.0/16' } }, { ipBlock: { cidr: 'fd12::/64' } }],
      ]);
      for (const policy of Object.values(others)) expect(reaches(policy, '10.20.0.0')).toBe(false);
      const { worker: without } = await policies(EVERYTHING);
      expect(onEveryPort(without)).toHaveLength(1);
    });

    test('nobody may scrape the metrics until peers are named', async () => {
      const metrics = ({ ingress = [] }: Policy) =>
        ingress.filter(({ ports = [] }) => ports.some(({ port }) => port === 'metrics'));
      for (const policy of Object.values(await policies(REQUIRED))) expect(metrics(policy)).toEqual([]);
      const named = { namespaceSelector: { matchLabels: { name: 'monitoring' } } };
      const { migrate: _, ...scraped } = await policies(EVERYTHING);
      for (const policy of Object.values(scraped)) expect(metrics(policy)).toMatchObject([{ from: [named] }]);
      await expect(render({ ...REQUIRED, 'podMonitor.enabled': 'true' })).rejects.toThrow(
        'Set networkPolicy.metricsFrom',
      );
    });

    test('a rule without a peer is refused', async () => {
      const open = { ...REQUIRED, 'networkPolicy.services[0].ports[0].port': '27017' };
      await expect(render(open)).rejects.toThrow(/services.*to/s);
    });
  });
});
