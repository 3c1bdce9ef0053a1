import { createInterface } from 'node:readline';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { changeSettings, type SettingChanges } from '../../src/settings/change-settings.ts';
import { CHANGEABLE_NAMES, type ChangeableName } from '../../src/settings/changeable.ts';
import { startMailServer } from '../support/fake-mail-server.ts';
import { environmentOf } from '../support/process-environment.ts';
import { testDeps } from '../support/test-deps.ts';
import { startWeb } from '../support/web-process.ts';
import { spawnScheduler, spawnWorker } from '../support/worker-process.ts';

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

/** Settings that no page shows to a stranger. The log of each process names them. */
const UNSEEN: SettingChanges = {
  STEAM_SIGN_IN: 'on',
  WEB_VOTES: 'off',
  WEB_VOTE_PLAYERS: '7',
  SIGN_UPS_PER_NETWORK: '8',
  SIGN_UPS_PER_MAIL_DOMAIN: '9',
  SERVERS_PER_ACCOUNT: '3',
  KEEP_PLAYER_NAMES_MONTHS: '12',
  KEEP_ADDRESSES_MONTHS: '36',
};

type Line = { event?: string; changed?: string[] };

/** Starts a web process, a worker and a scheduler, which log what they read. */
async function startProcesses(deps: AppDeps) {
  const [web, worker, scheduler] = await Promise.all([
    startWeb({ ...environmentOf(deps.config), PORT: '0', METRICS_PORT: '0' }),
    spawnWorker(deps.config),
    spawnScheduler(deps.config),
  ]);
  const webLines: Line[] = [];
  const lines = createInterface({ input: web.child.stdout as NodeJS.ReadableStream });
  lines.on('line', (line) => webLines.push(JSON.parse(line)));
  onTestFinished(() => lines.close());
  return {
    web,
    logs: { web: webLines, worker: worker.lines as Line[], scheduler: scheduler.lines as Line[] },
  };
}

test('each setting that is changed while three processes run is used by all of them within 5 seconds', async () => {
  const mail = await startMailServer();
  const deps = await testDeps({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  const { web, logs } = await startProcesses(deps);
  const changedNames = new Set<string>();

  async function isUsedByAll(changes: SettingChanges) {
    const names = Object.keys(changes) as ChangeableName[];
    for (const name of names) changedNames.add(name);
    const begin = performance.now();
    await changeSettings(deps, changes, 'test');
    return async (path?: string, contains?: string) => {
      for (const [process, lines] of Object.entries(logs)) {
        await vi.waitUntil(
          () =>
            names.every((name) =>
              lines.some(({ event, changed }) => event === 'settings.read' && changed?.includes(name)),
            ),
          { timeout: WITHIN_MS },
        );
        expect(performance.now() - begin, `${process} ${names}`).toBeLessThan(WITHIN_MS);
      }
      if (path === undefined) return;
      const shown = async () => (await fetch(`${web.url}${path}`)).text();
      await vi.waitFor(async () => expect(await shown()).toContain(contains), {
        timeout: WITHIN_MS,
        interval: 100,
      });
      expect(performance.now() - begin, `${path} ${names}`).toBeLessThan(WITHIN_MS);
    };
  }

  for (const { changes, path, contains } of CHANGES) await (await isUsedByAll(changes))(path, contains);
  for (const [name, text] of Object.entries(UNSEEN)) await (await isUsedByAll({ [name]: text }))();

  // The web process asks for a link, and the worker sends it over the server that was stored while both ran.
  await (await isUsedByAll({ SMTP_URL: mail.url, MAIL_FROM: 'votes@example.org' }))();
  const sent = await fetch(`${web.url}/sign-up`, {
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
  expect([...changedNames].toSorted()).toEqual([...CHANGEABLE_NAMES].toSorted());
  // Secrets are in no log line.
  expect(JSON.stringify(logs)).not.toMatch(/hush-hush|hush-again/);
});
