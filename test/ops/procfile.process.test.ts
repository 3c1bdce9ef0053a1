import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test, vi } from 'vitest';
import { freePort, listenErrorOf } from '../../src/own-services/free-port.ts';
import { DEFAULTS } from '../../src/platform/settings/definitions.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { changeSettings, type SettingChanges } from '../../src/settings/change-settings.ts';
import { CHANGEABLE_NAMES, type ChangeableName, fieldOf } from '../../src/settings/changeable.ts';
import { childrenOf, lives } from '../own-services/npm-start.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startMailServer } from '../support/fake-mail-server.ts';
import { collectLines, type LogLine } from '../support/log-lines.ts';
import { environmentOf } from '../support/process-environment.ts';
import { testDeps } from '../support/test-deps.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMANDS = Object.fromEntries(
  readFileSync(`${ROOT}Procfile`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(/: (.*)/, 2) as [string, string]),
);
const PROCESSES = ['web', 'worker', 'scheduler'];

/** The first of four free ports that follow each other. */
async function fourFreePorts(): Promise<number> {
  const first = await freePort();
  const errors = await Promise.all([1, 2, 3].map((more) => listenErrorOf('127.0.0.1', first + more)));
  return errors.every((error) => error === null) ? first : fourFreePorts();
}

/** Runs a command of the Procfile in a shell, as foreman and its like do. It is killed at the end. */
function start(name: string, env: Record<string, string>) {
  const child = spawn('sh', ['-c', COMMANDS[name] ?? ''], {
    cwd: ROOT,
    detached: true,
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { lines, add } = collectLines();
  createInterface({ input: child.stdout }).on('line', add);
  const ended = once(child, 'close').then(([code]): number => code);
  const pid = child.pid ?? 0;
  atTheEnd(async () => {
    // The shell's whole group: the process is its child.
    if (child.exitCode === null) process.kill(-pid, 'SIGKILL');
    await ended;
  });
  return { pid, lines, errors: text(child.stderr), ended };
}

let deps: AppDeps;
/** The first port of the four, and the address of the web process, which has the last one. */
let first: number;
let url: string;
let released: [code: number, errors: string];
const running = new Map<string, ReturnType<typeof start>>();
beforeAll(async () => {
  deps = await testDeps({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  first = await fourFreePorts();
  url = `http://127.0.0.1:${first + 3}`;
  const { NODE_COMPILE_CACHE = '' } = process.env;
  const own = { PORT: String(first + 3), METRICS_PORT: String(first), SHUTDOWN_DELAY_MS: '0' };
  const env = { ...environmentOf(deps.config), ...own, NODE_COMPILE_CACHE, LOG_LEVEL: 'info' };
  const release = start('release', env);
  released = [await release.ended, await release.errors];
  for (const name of PROCESSES) running.set(name, start(name, env));
});

test('all processes of the Procfile run on one machine, with the settings of one .env', async () => {
  expect(released).toEqual([0, '']);
  // The endpoints of the three, and the pages.
  const ready = [0, 1, 2, 3].map((more) =>
    vi.waitFor(async () => {
      const answer = await fetch(`http://127.0.0.1:${first + more}/readyz`);
      expect(answer.status).toBe(200);
    }, EVENTUALLY),
  );
  const stopped = [...running.values()].map(async ({ ended, errors }) => [await ended, await errors]);
  expect(await Promise.race([Promise.all(ready), ...stopped])).toEqual(ready.map(() => undefined));
  const work = () => running.get('scheduler')?.lines;
  await expect.poll(work).toContainEqual(expect.objectContaining({ event: 'schedule.enqueued' }));
});

/** Every process must use a change within this time. */
const WITHIN_MS = 5_000;

/** A change of each setting, and a page that shows it: the path, and what it contains. */
const CHANGES: { changes: SettingChanges; path: string; contains: string }[] = [
  { changes: { SERVICE_NAME: 'Quay' }, path: '/sign-in', contains: 'Quay' },
  { changes: { CONTACT: 'help@example.org' }, path: '/sign-in', contains: 'mailto:help@example.org' },
  { changes: { DEFAULT_LANGUAGE: 'de' }, path: '/sign-in', contains: '<html lang="de">' },
  { changes: { NOTICE: 'Closed on Monday' }, path: '/sign-in', contains: 'Closed on Monday' },
  {
    changes: { FOOTER_LINKS: 'Forum https://forum.example.org' },
    path: '/sign-in',
    contains: 'https://forum.example.org',
  },
  { changes: { ACCENT_COLOUR: '#aa3300' }, path: '/sign-in', contains: '/assets/accent/aa3300.css' },
  {
    changes: { LOGO_PICTURE: `${'a'.repeat(64)} 96 96` },
    path: '/sign-in',
    contains: `/pictures/${'a'.repeat(64)}.webp`,
  },
  { changes: { PAGE_CONTACT: '# Reach us' }, path: '/contact', contains: 'Reach us' },
  { changes: { PAGE_IMPRINT: '# Who we are' }, path: '/imprint', contains: 'Who we are' },
  { changes: { PAGE_PRIVACY: '# Your data' }, path: '/privacy', contains: 'Your data' },
  { changes: { PAGE_TERMS: '# The rules' }, path: '/terms', contains: 'The rules' },
  {
    changes: { DISCORD_CLIENT_ID: '42', DISCORD_CLIENT_SECRET: 'hush-hush' },
    path: '/sign-in',
    contains: 'action="/sign-in/discord"',
  },
  {
    changes: {
      OIDC_ISSUER: 'https://id.example.org',
      OIDC_CLIENT_ID: 'listing',
      OIDC_CLIENT_SECRET: 'hush-again',
      OIDC_NAME: 'Our club',
    },
    path: '/sign-in',
    contains: 'Our club',
  },
];

const MAIL_CHANGES: SettingChanges = { SMTP_URL: '', MAIL_FROM: 'votes@example.org' };

/** The settings that no page shows to a stranger, each with another value. The log of each process names them. */
const UNSEEN: SettingChanges = Object.fromEntries(
  CHANGEABLE_NAMES.filter(
    (name) => ![...CHANGES.map(({ changes }) => changes), MAIL_CHANGES].some((changes) => name in changes),
  ).map((name) => [name, anotherValue(name)]),
);

function anotherValue(name: ChangeableName): string {
  if (name === 'LANGUAGES') return 'en,fr';
  const { options = [] } = fieldOf(name);
  const [other = String(Number(DEFAULTS[name]) + 5)] = options
    .map(([value]) => value)
    .filter((value) => value !== DEFAULTS[name]);
  return other;
}

test('each setting that is changed while they run is used by all of them within 5 seconds', async () => {
  const mail = await startMailServer();
  const changedNames = new Set<string>();

  /** Makes several changes at once, and waits until every process uses each of them and the pages show them. */
  async function areUsedByAll(several: { changes: SettingChanges; path?: string; contains?: string }[]) {
    const changes: SettingChanges = Object.assign({}, ...several.map((one) => one.changes));
    const names = Object.keys(changes) as ChangeableName[];
    for (const name of names) changedNames.add(name);
    const begin = performance.now();
    const isInTime = (what: string) => expect(performance.now() - begin, what).toBeLessThan(WITHIN_MS);
    await changeSettings(deps, changes, 'test');
    const uses = (lines: LogLine[], name: ChangeableName) =>
      lines.some(({ event, changed }) => event === 'settings.read' && (changed as string[])?.includes(name));
    for (const [process, { lines }] of running) {
      await vi.waitUntil(() => names.every((name) => uses(lines, name)), { timeout: WITHIN_MS });
      isInTime(process);
    }
    for (const { path, contains } of several) {
      if (path === undefined) continue;
      const shown = async () => (await fetch(`${url}${path}`)).text();
      await vi.waitFor(async () => expect(await shown()).toContain(contains), { timeout: WITHIN_MS });
      isInTime(`${contains} in ${path}`);
    }
  }

  for (const at of new Set(CHANGES.map(({ path }) => path === '/sign-in')))
    await areUsedByAll(CHANGES.filter(({ path }) => (path === '/sign-in') === at));
  await areUsedByAll([{ changes: UNSEEN }]);

  // The web process asks for a link, and the worker sends it over the server that was stored while both ran.
  await areUsedByAll([{ changes: { ...MAIL_CHANGES, SMTP_URL: mail.url } }]);
  const sent = await fetch(`${url}/sign-up`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(deps.config.PUBLIC_URL).origin,
    },
    body: new URLSearchParams({ email: 'anna@example.org' }),
  });
  expect(sent.status).toBe(200);
  await vi.waitFor(() => expect(mail.received).toMatchObject([{ to: 'anna@example.org' }]), {
    timeout: 20_000,
  });
  expect(mail.received[0]?.subject).toContain('Quay');
  expect(changedNames).toEqual(new Set(CHANGEABLE_NAMES));
  // Secrets are in no log line.
  expect(JSON.stringify([...running.values()].map(({ lines }) => lines))).not.toMatch(/hush-hush|hush-again/);
});

test('all stop in order at a signal', async () => {
  for (const { pid } of running.values()) {
    const [own = pid] = (await childrenOf(pid)).values();
    if (lives(own)) process.kill(own, 'SIGTERM');
  }
  for (const [name, { lines, ended, errors }] of running) {
    expect([name, await ended, await errors]).toEqual([name, 0, '']);
    expect(lines.at(-1)).toMatchObject({ event: 'process.stopped' });
  }
});
