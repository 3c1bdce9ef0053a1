import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { EVENTUALLY } from '../support/eventually.ts';
import { addFetchingServer } from '../support/fetching.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

/** How a loop of docs/fetching.md is started: its file, and the command before it. */
const PROGRAMS = {
  js: ['fetch.mjs', process.execPath],
  python: ['fetch.py', 'python3'],
  java: ['Fetch.java', 'java'],
} as const;

const isInstalled = (program: string) => !spawnSync(program, ['--version']).error;
const page = readFileSync('docs/fetching.md', 'utf8');

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp();
});
afterAll(() => tallyport.close());

const codeOf = (fence: string) => new RegExp(`\`\`\`${fence}\n(.*?)\n\`\`\``, 's').exec(page)?.[1] ?? '';

/** Starts a program, which ends with the test. Returns the lines that it prints, as they come. */
async function run(
  code: string,
  file: string,
  command: string,
  env: Record<string, string>,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-fetch-loop-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, file), code);
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(command, [join(folder, file)], { env: { ...process.env, ...env }, stdio: [...stdio] });
  onTestFinished(async () => {
    const ended = child.exitCode !== null || child.signalCode !== null || once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  const lines: string[] = [];
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return lines;
}

const ODD_NAME = 'Stève "the \\ one" {x}';

/** A delivery with its fields in another order, one that nobody knows, and a name with escapes. */
const odd = (resends: number) =>
  JSON.stringify({
    deliveries: [{ lease: 'lease-1', later: true, resends, username: ODD_NAME, sending: 1, vote_id: 'one' }],
    paused: false,
  }).replace('è', '\\u00e8');
const plain = JSON.stringify({
  deliveries: [{ vote_id: 'two', username: 'Alex', sending: 1, resends: 0, lease: 'lease-2' }],
});

/** Answers to takes, in order: what filters, dying proxies and hanging listings send, and then votes. */
const TAKES: ((answer: ServerResponse) => void)[] = [
  (answer) => answer.end('<!doctype html><title>Just a moment…</title>'),
  (answer) => answer.end('{}'),
  (answer) => answer.end('[]'),
  (answer) => answer.end('{"deliveries":[{"foo":1}]}'),
  (answer) => answer.writeHead(429, { 'retry-after': '-5' }).end(),
  (answer) => {
    answer.writeHead(200, { 'content-length': '500' }).write(odd(0).slice(0, 40));
    setTimeout(() => answer.destroy(), 50);
  },
  (answer) =>
    answer.writeHead(503, { 'retry-after': 'Sun, 29 Nov 2026 12:00:00 GMT' }).end('{"code":"unavailable"}'),
  () => {},
  (answer) => answer.writeHead(200).write('{"deliveries":'),
  (answer) => answer.destroy(),
  (answer) => answer.end(odd(0)),
  // A retry, and then “Send again”.
  (answer) => answer.end(odd(0)),
  (answer) => answer.end(odd(1)),
  (answer) => answer.end(plain),
];

/** A listing that gives the answers `TAKES` and then waits. `settled`: the ids of settled votes. */
async function oddListing(): Promise<{ url: string; settled: string[]; readonly left: number }> {
  const takes = [...TAKES];
  const settled: string[] = [];
  const server = createServer(async (request, answer) => {
    const body = JSON.parse(await text(request));
    if (request.url?.endsWith('/take')) return takes.shift()?.(answer);
    settled.push(...body.results.map(({ vote_id }: { vote_id: string }) => vote_id));
    answer.end('{"settled":[],"refused":[]}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    settled,
    get left() {
      return takes.length;
    },
  };
}

for (const [fence, [file, command]] of Object.entries(PROGRAMS)) {
  test.skipIf(!isInstalled(command))(
    `the loop in ${fence} goes on after odd answers, reads each name as it is, and rewards again what was sent again by hand`,
    async () => {
      const listing = await oddListing();
      const code = codeOf(fence)
        .replace('PAUSE_S = 10', 'PAUSE_S = 1')
        .replace('TIMEOUT_S = 60', 'TIMEOUT_S = 2');
      const lines = await run(code.replaceAll('http://localhost:3000', listing.url), file, command, {
        SERVER_ID: '6b0c264221e0d50b4ff2193d',
        DELIVERY_TOKEN: 'tpd_x',
      });
      await expect.poll(() => listing.settled.length, EVENTUALLY).toBe(4);
      expect(lines).toEqual([`reward ${ODD_NAME}`, `reward ${ODD_NAME}`, 'reward Alex']);
      expect(listing.settled).toEqual(['one', 'one', 'one', 'two']);
      expect(listing.left).toBe(0);
    },
  );

  test.skipIf(!isInstalled(command))(
    `the loop in ${fence} rewards each vote once and settles it`,
    async () => {
      const server = await addFetchingServer(tallyport);
      const votes = [await server.cast('Steve'), await server.cast('Alex')];
      const lines = await run(
        codeOf(fence).replaceAll('http://localhost:3000', tallyport.url),
        file,
        command,
        {
          SERVER_ID: server.serverId.toHexString(),
          DELIVERY_TOKEN: server.token,
        },
      );
      const stateOf = async ({ _id }: (typeof votes)[number]) => (await server.vote(_id)).delivery.state;
      await expect
        .poll(() => Promise.all(votes.map(stateOf)), EVENTUALLY)
        .toEqual(['delivered', 'delivered']);
      // It goes on with the next vote.
      const later = await server.cast('Kai');
      await expect.poll(() => stateOf(later), EVENTUALLY).toBe('delivered');
      expect(lines).toEqual(['reward Steve', 'reward Alex', 'reward Kai']);
    },
  );
}

test('docs/fetching.md has the loop in three languages', () => {
  expect([...page.matchAll(/^```(js|python|java)$/gm)].map(([, fence]) => fence)).toEqual(
    Object.keys(PROGRAMS),
  );
});
