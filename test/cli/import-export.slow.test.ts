import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { mongoCommand, startFaultProxy } from '../support/fault-proxy.ts';
import { type Cli, openCli, tallyport } from './tallyport.ts';

let cli: Cli;
let other: Cli;
let folder: string;

beforeAll(async () => {
  [cli, other] = await Promise.all([openCli(), openCli()]);
  folder = await mkdtemp(join(tmpdir(), 'tallyport-import-export-'));
});
afterAll(async () => {
  await Promise.all([cli.close(), other.close(), rm(folder, { recursive: true })]);
});

/** Lists a server and returns its id. */
async function listed(on: Cli, name: string): Promise<string> {
  const server = { name, address: 'play.example.org', port: 25_565 };
  return (await addServer(on.deps, server, 'test')).serverId;
}

const lines = (records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

describe('import', () => {
  it('says what was imported and which lines were refused', async () => {
    const id = new ObjectId().toHexString();
    const servers = join(folder, 'servers.ndjson');
    const good = {
      server_id: id,
      slug: 'moved',
      name: 'Moved',
      address: 'play.example.org',
      connection_port: 1,
    };
    await writeFile(servers, `\ufeff${JSON.stringify(good)}\r\n\r\n{"name": "\u202eNo address"}\r\n`);

    const refused = await cli.run('import servers', servers);
    expect(refused).toMatchObject({ code: 1, stderr: '' });
    expect(refused.stdout).toBe(
      'Nothing was imported: 1 of 2 lines are refused. Correct them, or import the rest with --skip-bad.\n' +
        '  line 3: address must be text\n',
    );
    expect(await cli.deps.servers.countDocuments({ slug: 'moved' })).toBe(0);

    const taken = await cli.run('import servers --skip-bad --json', servers);
    expect(taken).toMatchObject({ code: 0, stderr: '' });
    expect(taken.json).toEqual({
      dry_run: false,
      lines: 2,
      imported: 1,
      already_there: 0,
      refused: 1,
      refused_lines: [{ line: 3, reason: 'address must be text' }],
    });
    const again = await tallyport(['import', 'servers', '-', '--skip-bad'], {
      env: cli.env,
      input: `${JSON.stringify(good)}\n`,
    });
    expect(again.stdout).toBe('1 line read: 0 imported, 1 already there, 0 refused.\n');
  });

  it('checks a file without importing it, and says if a file cannot be read', async () => {
    const id = await listed(cli, 'Dry');
    const votes = join(folder, 'dry.ndjson');
    await writeFile(votes, lines([{ server_id: id, username: 'Steve', voted_at: '2026-01-01T00:00:00Z' }]));

    expect((await cli.run('import votes --dry-run', votes)).stdout).toBe(
      '1 line read: 1 can be imported if they are not stored already, 0 would be refused.\n',
    );
    expect(await cli.deps.votes.countDocuments({ serverId: new ObjectId(id) })).toBe(0);
    expect(await cli.run('import votes --json', join(folder, 'nowhere'))).toMatchObject({
      code: 1,
      json: { code: 'file-unreadable', error: expect.stringContaining('no such file') },
    });
    expect((await cli.run('import votes --json', folder)).json).toMatchObject({
      code: 'file-unreadable',
    });
  });
});

/** How long MongoDB takes: longer than the limit of an API request, and shorter than that of long commands. */
const SLOW_MS = 6 * SECOND;

it.concurrent.each([
  ['export votes', 'aggregate', 'votes'],
  ['import votes', 'aggregate', 'votes'],
  ['aggregate --day', 'aggregate', 'status_samples'],
])(
  '%s waits for an operation that takes MongoDB long',
  async (command, operation, collection) => {
    const id = await listed(cli, `Slow ${command}`);
    const uri = cli.env.MONGODB_URI ?? '';
    const proxy = await startFaultProxy(Number(new URL(uri).port), 'mongodb');
    let answered = false;
    const hold = async () => {
      if (!answered) await pause(SLOW_MS);
      answered = true;
    };
    // Two stalls: if the driver gives up the first try, the second try must wait too.
    for (let tries = 0; tries < 2; tries++)
      void proxy.stallNext(mongoCommand(operation, collection), hold).catch(() => undefined);
    const given = {
      'export votes': [id],
      'import votes': ['-'],
      'aggregate --day': [dayOf(new Date(Date.now() - DAY))],
    }[command];
    const result = await tallyport([...command.split(' '), ...(given ?? [])], {
      env: { ...cli.env, MONGODB_URI: proxy.through(uri) },
      input: lines([{ server_id: id, username: 'Steve', voted_at: '2026-01-01T00:00:00Z' }]),
    });
    await proxy.close();
    expect([result.code, result.stderr]).toEqual([0, '']);
  },
  60_000,
);

describe('export', () => {
  it('and import into another installation give the same samples and votes', async () => {
    const id = await listed(cli, 'Round trip');
    const serverId = new ObjectId(id);
    const now = Date.now();
    const firstDay = Date.parse(dayOf(new Date(now - 3 * DAY)));
    const samples = Array.from({ length: 2 * (DAY / (5 * MINUTE)) + 24 }, (_, index) => ({
      server_id: id,
      at: new Date(firstDay + index * 5 * MINUTE).toISOString(),
      online: index % 10 === 0 ? null : index % 7 !== 0,
      online_players: index,
      max_players: 500,
      latency_ms: index % 3 === 0 ? null : 12.5,
      seconds: 300,
      ...(index % 10 === 0 ? { reason: 'canary' } : {}),
    }));
    const votes = Array.from({ length: 500 }, (_, index) => ({
      server_id: id,
      username: `我的 ${index}`,
      voted_at: new Date(now - 30 * DAY + index * HOUR).toISOString(),
    }));
    const importing = (on: Cli, what: string, input: string) =>
      tallyport(['import', what, '-', '--json'], { env: on.env, input });
    await importing(cli, 'samples', lines(samples));
    await importing(cli, 'votes', lines(votes));
    const exported = {
      samples: (await cli.run(`export samples ${id}`)).stdout,
      votes: (await cli.run(`export votes ${id}`)).stdout,
    };
    expect(exported.votes).toBe(lines(votes));
    expect(
      exported.samples
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(samples);

    const { _id, ...rest } = (await cli.deps.servers.findOne({ _id: serverId })) ?? {};
    await other.deps.servers.insertOne({ _id: serverId, ...rest } as never);
    expect((await importing(other, 'samples', exported.samples)).json).toMatchObject({
      imported: samples.length,
    });
    expect((await importing(other, 'votes', exported.votes)).json).toMatchObject({ imported: 500 });

    const figures = async ({ deps }: Cli) => ({
      days: await deps.dailyStats
        .find({ serverId }, { projection: { _id: 0 } })
        .sort({ day: 1 })
        .toArray(),
      counters: await deps.voteCounters
        .find({ serverId }, { projection: { _id: 0 } })
        .sort({ month: 1 })
        .toArray(),
      daily: (await deps.servers.findOne({ _id: serverId }))?.daily,
    });
    expect((await figures(cli)).days).toHaveLength(3);
    expect(await figures(other)).toEqual(await figures(cli));

    const since = votes[490]?.voted_at;
    const until = votes[492]?.voted_at;
    expect((await cli.run(`export votes ${id} --since ${since} --until ${until}`)).stdout).toBe(
      lines(votes.slice(490, 492)),
    );
  });

  it('accepts UTC days and times', async () => {
    expect((await cli.run('export votes nowhere --since yesterday --json')).json).toMatchObject({
      code: 'wrong-use',
      error: expect.stringContaining('2026-11-20T08:00:00Z'),
    });
  });
});
