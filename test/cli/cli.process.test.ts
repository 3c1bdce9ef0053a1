import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Cli, openCli } from './tallyport.ts';
import { CLI, spawnTallyport } from './tallyport-process.ts';

const run = promisify(execFile);

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

it('the process reads standard input, prints its answer and returns the exit code of its command', async () => {
  const { env } = cli;
  const { server_id } = await cli.addServer('Piped');
  const vote = { server_id, username: 'Steve', voted_at: '2026-01-01T00:00:00Z' };
  const [imported, wrong] = await Promise.all([
    spawnTallyport(['import', 'votes', '-'], { env, input: `${JSON.stringify(vote)}\n` }),
    spawnTallyport(['vot', 'list'], { env }),
  ]);

  expect(imported).toMatchObject({
    code: 0,
    stdout: '1 line read: 1 imported, 0 already there, 0 refused.\n',
    stderr: '',
  });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Did you mean vote?') });
});

it('a file .env that cannot be read is a configuration error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-cli-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, '.env'));
  const env = { ...cli.env, NODE_ENV: 'development' };
  const child = spawn(process.execPath, [CLI, 'server', 'list', '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');

  expect(JSON.parse(await text(child.stdout))).toEqual({
    error: expect.stringContaining('.env cannot be read: EISDIR'),
    code: 'configuration',
  });
  expect(await exited).toEqual([1, null]);
});

it('the process prints one line if its answer cannot be written', async () => {
  const full = await open('/dev/full', 'w');
  onTestFinished(() => full.close());
  const child = spawn(process.execPath, [CLI, '--help'], {
    env: cli.env,
    stdio: ['ignore', full.fd, 'pipe'],
  });
  const exited = once(child, 'exit');
  if (!child.stderr) throw new Error('no pipe');

  expect(await text(child.stderr)).toBe('The answer cannot be written: no space left on device.\n');
  expect(await exited).toEqual([1, null]);
});

it('a reader that closes the pipe early causes no error', async () => {
  const child = spawn('sh', ['-c', '"$0" "$@" | true', process.execPath, CLI, '--help'], {
    env: cli.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });

  expect(await text(child.stderr)).toBe('');
});

describe('export', () => {
  it('ends when its reader closes the pipe', async () => {
    const { server_id } = await cli.addServer('Cut off');
    const serverId = new ObjectId(server_id);
    await cli.deps.votes.insertMany(
      Array.from({ length: 1_500 }, (_, seq) => ({
        serverId,
        usernameKey: 'x',
        username: 'x'.repeat(50),
        seq,
        votedAt: new Date(seq),
      })) as never[],
    );
    const piped = await run(
      'sh',
      ['-c', `'${process.execPath}' '${CLI}' export votes ${server_id} | head -n 1`],
      { env: cli.env as NodeJS.ProcessEnv, timeout: 60_000 },
    );
    expect(piped).toEqual({ stdout: expect.stringMatching(/^\{.*\}\n$/), stderr: '' });
  });
});
