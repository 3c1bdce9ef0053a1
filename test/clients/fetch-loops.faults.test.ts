import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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

for (const [fence, [file, command]] of Object.entries(PROGRAMS)) {
  test.skipIf(!isInstalled(command))(
    `the loop in ${fence} rewards each vote once and settles it`,
    async () => {
      const server = await addFetchingServer(tallyport);
      const [, code = ''] = new RegExp(`\`\`\`${fence}\n(.*?)\n\`\`\``, 's').exec(page) ?? [];
      const folder = await mkdtemp(join(tmpdir(), 'tallyport-fetch-loop-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      await writeFile(join(folder, file), code.replaceAll('http://localhost:3000', tallyport.url));
      const votes = [await server.cast('Steve'), await server.cast('Alex')];
      const env = { ...process.env, SERVER_ID: server.serverId.toHexString(), DELIVERY_TOKEN: server.token };
      const child = spawn(command, [join(folder, file)], { env, stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(async () => {
        const ended = child.exitCode !== null || child.signalCode !== null || once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      });
      const lines: string[] = [];
      createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
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
