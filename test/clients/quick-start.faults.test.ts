import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startApp, type TestDeps } from '../support/start-app.ts';

const run = promisify(execFile);

/** How a program of the reference is started: its file, and the command before it. */
const PROGRAMS = {
  sh: ['vote.sh', 'sh'],
  js: ['vote.mjs', process.execPath],
  python: ['vote.py', 'python3'],
  php: ['vote.php', 'php'],
  java: ['Vote.java', 'java'],
} as const;

const isInstalled = (program: string) => !spawnSync(program, ['--version']).error;

let tallyport: TestDeps;
let description: string;
beforeAll(async () => {
  tallyport = await startApp();
  const document = await fetch(`${tallyport.url}/openapi.json`);
  description = ((await document.json()) as { info: { description: string } }).info.description;
});
afterAll(() => tallyport.close());

describe('the quick start', () => {
  test('is in five languages, above everything else', () => {
    const [, start = ''] = description.split('\n# ');
    expect(start).toMatch(/^Quick start\n/);
    expect([...start.matchAll(/^```(\w+)$/gm)].map(([, fence]) => fence)).toEqual(Object.keys(PROGRAMS));
  });

  for (const [fence, [file, command]] of Object.entries(PROGRAMS)) {
    test.skipIf(!isInstalled(command))(
      `in ${fence} casts a vote, and shows why a second one is refused`,
      async () => {
        const server = await tallyport.addServer();
        const [, code = ''] = new RegExp(`\`\`\`${fence}\n(.*?)\n\`\`\``, 's').exec(description) ?? [];
        const folder = await mkdtemp(join(tmpdir(), 'tallyport-quick-start-'));
        onTestFinished(() => rm(folder, { recursive: true }));
        await writeFile(join(folder, file), code.replaceAll('http://localhost:3000', tallyport.url));
        const env = { ...process.env, SERVER_ID: server.serverId.toHexString(), API_TOKEN: server.token };
        const vote = async () => (await run(command, [join(folder, file)], { env })).stdout;
        expect(await vote()).toMatch(/votes.*1/i);
        expect(await vote()).toMatch(/cooldown.*voted for this server|voted for this server.*cooldown/);
        expect(await tallyport.deps.votes.countDocuments({ serverId: server.serverId })).toBe(1);
      },
    );
  }
});
