import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CONNECTION_LIMITS } from '../../src/http/limit-connections.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { LARGEST_UPLOAD } from '../../src/platform/pictures/picture-limits.ts';
import { SECRETS_IN_FILES, SETTINGS } from '../../src/platform/settings/definitions.ts';
import { COMPOSE_VARIABLES } from '../../tools/generated/compose-variables.ts';
import { pathOf } from './operators-files.ts';

type Service = {
  build?: object;
  cap_drop?: string[];
  command?: string[];
  depends_on?: Record<string, { condition: string }>;
  env_file?: { path: string; required: boolean }[];
  environment?: Record<string, string>;
  healthcheck?: { start_period: string };
  image?: string;
  logging?: { driver: string; options: Record<string, string> };
  mem_limit?: string;
  networks?: string[];
  pids_limit?: number;
  ports?: string[];
  pull_policy?: string;
  read_only?: boolean;
  security_opt?: string[];
  tmpfs?: string[];
  volumes?: string[];
};
type ComposeFile = {
  services: Record<string, Service>;
  networks?: Record<
    string,
    { internal?: boolean; enable_ipv6?: string; ipam?: { config: { subnet: string }[] } }
  >;
};

const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
const { services, networks = {} }: ComposeFile = parse(text, { merge: true });
const networksOf = (name: string) => services[name]?.networks ?? ['default'];

/** The settings that Compose decides: the same for every `.env`. */
const FIXED = {
  HOST: '0.0.0.0',
  METRICS_HOST: '0.0.0.0',
  METRICS_PORT: '9464',
  MONGODB_URI: 'mongodb://tallyport:mongo@mongodb:27017/tallyport?authSource=admin',
  MONGODB_URI_FILE: '',
  NODE_ENV: 'production',
  PORT: '3000',
  REDIS_URL: 'redis://:valkey@valkey:6379',
  REDIS_URL_FILE: '',
};

/** The least `.env` of the documentation. */
const REQUIRED = {
  PUBLIC_URL: 'https://vote.example.org',
  SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
  TRUST_PROXY: '1',
  MONGODB_PASSWORD: 'mongo',
  VALKEY_PASSWORD: 'valkey',
};

/** The variables that Compose gives to a container: those of `.env`, then `environment` with its `${…}` replaced. */
function environmentOf(name: string, env: Record<string, string>): Record<string, string> {
  const { env_file: files = [], environment = {} } = services[name] ?? {};
  const replaced = Object.entries(environment).map(([name, value]) => [
    name,
    value.replace(/\$\{(\w+)(:?[-?])([^}]*)\}/g, (_, variable: string, operator: string, other: string) => {
      const given = env[variable];
      if (given !== undefined && (given !== '' || !operator.startsWith(':'))) return given;
      if (operator.endsWith('?')) throw new Error(other);
      return other;
    }),
  ]);
  const passed = files.some(({ path }) => path === '.env') ? env : {};
  return { ...passed, ...Object.fromEntries(replaced) };
}

describe.each(['web', 'worker', 'scheduler', 'migrate'])('the container of %s', (service) => {
  test('gets every setting of .env except those that Compose decides', () => {
    const names = [...SETTINGS, ...SECRETS_IN_FILES.map((name) => `${name}_FILE`)];
    const env = { ...Object.fromEntries(names.map((name) => [name, `the ${name}`])), ...REQUIRED };
    expect(environmentOf(service, env)).toEqual({ ...env, ...FIXED });
  });

  test('starts with a .env that is also for processes on the host', () => {
    const config = loadConfig(
      environmentOf(service, {
        ...REQUIRED,
        NODE_ENV: 'development',
        HOST: '127.0.0.1',
        PORT: '8080',
        METRICS_HOST: '127.0.0.1',
        METRICS_PORT: '0',
        MONGODB_URI: 'mongodb://127.0.0.1:27017/tallyport',
        REDIS_URL_FILE: '/home/operator/redis-url',
        WEB_VOTES: 'off',
      }),
    );
    const { MONGODB_URI, REDIS_URL } = FIXED;
    expect(config).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: 3000, METRICS_PORT: 9464 });
    expect(config).toMatchObject({ MONGODB_URI, REDIS_URL, WEB_VOTES: 'off' });
  });

  test('starts with a .env whose other settings are empty', () => {
    const env = { ...Object.fromEntries(SETTINGS.map((name) => [name, ''])), ...REQUIRED };
    expect(loadConfig(environmentOf(service, env))).toMatchObject({ PORT: 3000, WEB_VOTES: 'on' });
  });

  test('starts without .env when the shell has what is required', () => {
    expect(services[service]?.env_file).toEqual([{ path: '.env', required: false }]);
  });
});

test.each(Object.keys(REQUIRED))('Compose says that %s must be set', (missing) => {
  const { [missing as keyof typeof REQUIRED]: _, ...others } = REQUIRED;
  expect(() => environmentOf('web', others)).toThrow(`set ${missing} in .env`);
});

test('MongoDB, Valkey and Caddy get no setting of Tallyport', () => {
  const given = ['mongodb', 'valkey', 'caddy'].flatMap((name) => Object.keys(environmentOf(name, REQUIRED)));
  expect(given.filter((name) => SETTINGS.includes(name))).toEqual([]);
  expect(given).toEqual(expect.arrayContaining(['VALKEYCLI_AUTH', 'SITE_HOST']));
});

test('the database is the one that .env names, so that a restore edits no other file', () => {
  const name = (env: object) =>
    new URL(environmentOf('migrate', { ...REQUIRED, ...env }).MONGODB_URI ?? '').pathname;
  expect(name({})).toBe('/tallyport');
  expect(name({ MONGODB_DATABASE: 'restored' })).toBe('/restored');
  // The container that gives the rights must give them on the same database.
  expect(environmentOf('mongodb-user', { ...REQUIRED, MONGODB_DATABASE: 'restored' }).MONGODB_URI).toBe(
    environmentOf('web', { ...REQUIRED, MONGODB_DATABASE: 'restored' }).MONGODB_URI,
  );
});

describe('the image of Tallyport', () => {
  const OURS = ['web', 'worker', 'scheduler', 'migrate'];

  test('is built once, by the service that all others wait for, and never pulled', () => {
    expect(Object.keys(services).filter((name) => services[name]?.build)).toEqual(['migrate']);
    for (const name of OURS) expect(services[name]).toMatchObject({ image: services.web?.image });
    for (const name of ['web', 'worker', 'scheduler']) {
      expect(services[name]?.pull_policy).toBe('never');
      expect(services[name]?.depends_on?.migrate?.condition).toBe('service_completed_successfully');
    }
  });
});

test('MongoDB may take an hour to start, for example to repair its data, before Compose gives up', () => {
  expect(services.mongodb?.healthcheck?.start_period).toBe('1h');
  for (const name of ['web', 'worker', 'scheduler', 'valkey'])
    expect(services[name]?.healthcheck?.start_period).toBe('10m');
});

test.each(Object.keys(services))('the log of %s is rotated', (name) => {
  expect(services[name]?.logging).toEqual({
    driver: 'json-file',
    options: { 'max-size': '20m', 'max-file': '5' },
  });
});

describe('the documented commands', () => {
  const documents = ['docker-compose.yml', 'README.md', ...globSync('docs/**/*.md')]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const upgrade = /With Compose, the whole upgrade is:\s+```sh\n(.*?)```/s.exec(documents)?.[1] ?? '';

  test('check, back up and restore through the service that does not migrate first', () => {
    const commands = [...documents.matchAll(/docker compose run [^\n`]*?(\S+) node src\/cli\.ts (\w+)/g)];
    const usedFor = Object.groupBy(commands, ([, service = '']) => service);
    expect(Object.keys(usedFor)).toEqual(['migrate']);
    const names = new Set(commands.map(([, , command]) => command));
    expect(names).toEqual(new Set(['config', 'backup', 'restore']));
  });

  test('of an upgrade fetch newer base images, and end nothing before all checks have passed', () => {
    const steps = upgrade.split(/\n|&&/).map((line) => line.trim());
    const at = (part: string) => steps.findIndex((step) => step.includes(part));
    expect(steps).toContain('docker compose build --pull');
    expect(steps).toContain('docker compose --profile caddy pull --ignore-buildable');
    const order = ['build', 'cli.ts backup', 'config check', 'run --rm migrate', 'up -d'].map(at);
    expect(order.toSorted((a, b) => a - b)).toEqual(order);
    expect(order).not.toContain(-1);
  });

  test('put the check of the settings before the first start', () => {
    const start = text.match(/^# {3}(docker compose .*config check.*)$/m)?.[1];
    expect(start).toBe(
      'docker compose run --rm --no-deps migrate node src/cli.ts config check && docker compose up -d',
    );
    expect(readFileSync('docs/operating/install.md', 'utf8')).toContain(`\n${start}\n`);
  });
});

describe('each container can do no more than it needs to', () => {
  const DATABASES = ['mongodb', 'valkey'];

  test('the databases share no network with Caddy, and reach nothing outside', () => {
    expect(networksOf('caddy')).toEqual(['default']);
    expect(networksOf('web')).toContain('default');
    for (const name of DATABASES) expect(networksOf(name)).toEqual(['data']);
    expect(networks.data?.internal).toBe(true);
  });

  test('only MongoDB and the containers that prepare it and set its users have the password of its root user', () => {
    const withRoot = Object.keys(services).filter((name) =>
      services[name]?.volumes?.some((volume) => volume.startsWith('mongodb-config:')),
    );
    expect(withRoot.toSorted()).toEqual(['mongodb', 'mongodb-prepare', 'mongodb-user']);
    // It is in the volume only, not in the configuration of a container.
    expect(environmentOf('mongodb', REQUIRED)).toEqual({ MONGO_INITDB_ROOT_USERNAME: 'root' });
    // That container sets the user of the processes' own address.
    expect(environmentOf('mongodb-user', REQUIRED).MONGODB_URI).toBe(FIXED.MONGODB_URI);
  });

  test.each(Object.keys(services))('%s has limits of memory, processes and temporary files', (name) => {
    const { mem_limit, pids_limit, tmpfs } = services[name] ?? {};
    expect(mem_limit).toMatch(/^(\$\{[A-Z]+_MEMORY:-)?\d+[mg]\}?$/);
    expect(pids_limit).toBeGreaterThan(0);
    expect(tmpfs).toContain('/tmp:size=64m');
  });

  test.each(Object.keys(services))('%s gains no privileges and does not write to its image', (name) => {
    expect(services[name]).toMatchObject({
      cap_drop: ['ALL'],
      read_only: true,
      security_opt: ['no-new-privileges:true'],
    });
  });

  test('only the web process, on loopback, and Caddy have ports of the machine', () => {
    const published = Object.keys(services).filter((name) => services[name]?.ports);
    expect(published).toEqual(['web', 'caddy']);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Compose replaces it.
    expect(services.web?.ports).toEqual(['${PUBLISH:-127.0.0.1:3000}:3000']);
  });
});

test('Caddy ends slow and large requests, and connects to the web process less often than that allows', () => {
  const caddyfile = readFileSync(pathOf('caddy/Caddyfile'), 'utf8');
  const numberOf = (name: string) => Number(new RegExp(`^\\s*${name} (\\d+)`, 'm').exec(caddyfile)?.[1]);
  expect(caddyfile).toMatch(/read_header 10s\s+read_body 30s\s+idle 2m/);
  expect(caddyfile).toContain('max_header_size 16KiB\n');
  expect(caddyfile).toMatch(/request_body \{\s+max_size 2MB/);
  expect(numberOf('max_size') * 1_000_000).toBeGreaterThan(LARGEST_UPLOAD);
  expect(numberOf('max_conns_per_host')).toBeLessThan(CONNECTION_LIMITS.most);
});

test('the network of visitors has IPv6, unless .env switches it off', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Compose replaces it.
  expect(networks.default?.enable_ipv6).toBe('${ENABLE_IPV6:-true}');
  // Docker before 27 chooses none itself.
  const subnets = networks.default?.ipam?.config.map(({ subnet }) => subnet);
  expect(subnets).toEqual([expect.stringMatching(/^\$\{IPV6_SUBNET:-fd[0-9a-f:]+::\/64\}$/)]);
});

test('.env.example has the defaults of the file', () => {
  const defaults = [...text.matchAll(/\$\{([A-Z0-9_]+):-([^}]*)\}/g)].map(([, name, value]) => [name, value]);
  const said = Object.entries(COMPOSE_VARIABLES).map(([name, { value }]) => [name, value]);
  const isSaid = ([name]: (string | undefined)[]) => Object.hasOwn(COMPOSE_VARIABLES, String(name));
  expect(Object.fromEntries(defaults.filter(isSaid))).toEqual(
    Object.fromEntries(said.filter(([, value]) => value !== '')),
  );
});
