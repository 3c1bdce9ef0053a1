import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DAY, MINUTE } from '../../src/platform/clock.ts';
import { type Cli, openCli } from './tallyport.ts';
import { CLI, spawnTallyport } from './tallyport-process.ts';

let cli: Cli;
let folder: string;

beforeAll(async () => {
  cli = await openCli();
  folder = await mkdtemp(join(tmpdir(), 'tallyport-import-test-'));
});
afterAll(async () => {
  await Promise.all([cli.close(), rm(folder, { recursive: true })]);
});

const LINES = 10_000;
/** Pads each line, so that the file is larger than the memory limit of the second run. */
const SPACE = ' '.repeat(7_200);

describe('import', () => {
  it('of a file larger than its memory is complete after a kill and a second run', async () => {
    const { server_id } = await cli.addServer('Large');
    const serverId = new ObjectId(server_id);
    const newest = Date.now() - 2 * DAY;
    const lines = Array.from({ length: LINES }, (_, number) => {
      const voted_at = new Date(newest - number * 15 * MINUTE).toISOString();
      const vote = JSON.stringify({ server_id, username: `Player ${number % 2_000}`, voted_at });
      return `${vote}${SPACE}\n`;
    });
    const file = join(folder, 'large.ndjson');
    await writeFile(file, lines);
    const { votes, voteCounters } = cli.deps;

    const killed = spawn(process.execPath, [CLI, 'import', 'votes', file], { env: cli.env, stdio: 'ignore' });
    const ended = once(killed, 'exit');
    await vi.waitFor(
      async () => expect(await votes.countDocuments({ serverId }, { limit: 3_000 })).toBe(3_000),
      { timeout: 60_000, interval: 20 },
    );
    killed.kill('SIGKILL');
    await ended;
    const half = await votes.countDocuments({ serverId });
    expect(half).toBeLessThan(0.9 * LINES);

    const env = { ...cli.env, NODE_OPTIONS: '--max-old-space-size=64' };
    const { json } = await spawnTallyport(['import', 'votes', file, '--json'], { env });
    const { imported, already_there, refused } = json as Record<string, number>;
    expect({ all: Number(imported) + Number(already_there), refused }).toEqual({ all: LINES, refused: 0 });
    // MongoDB may have stored some of what the killed process sent last.
    expect(already_there).toBeGreaterThanOrEqual(half);
    expect(already_there).toBeLessThan(LINES);
    expect(await votes.countDocuments({ serverId })).toBe(LINES);
    const counters = await voteCounters.find({ serverId }).toArray();
    const counted = counters.flatMap(({ days }) => Object.values(days));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(LINES);
  }, 400_000);
});
