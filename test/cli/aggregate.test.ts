import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { after, HOUR } from '../../src/platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { insert, probe } from '../history/samples.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

const daysAgo = (days: number) => addDays(dayOf(new Date()), -days);

describe('aggregate', () => {
  it('computes one day, or all finished days since a day, and the figures', async () => {
    const { server_id } = await cli.addServer('Alpha');
    const serverId = new ObjectId(server_id);
    const at = (days: number) => after(startOfDay(daysAgo(days)), HOUR);
    await insert(cli.deps, [
      probe(serverId, at(3), { onlinePlayers: 30 }),
      probe(serverId, at(2), { status: 'offline' }),
      probe(serverId, at(1), { onlinePlayers: 10 }),
    ]);
    const one = await cli.run(`aggregate --day ${daysAgo(3)}`);
    expect(one).toMatchObject({ code: 0, stdout: `${daysAgo(3)}: 1 server\n`, stderr: '' });
    const daily = async () => (await cli.deps.servers.findOne({ _id: serverId }))?.daily;
    expect(await daily()).toMatchObject({ averagePlayers: 30, uptimePercentage: 100 });

    const since = await cli.run(`aggregate --since ${daysAgo(3)} --json`);
    expect(since.json).toEqual({ days: [3, 2, 1].map((days) => ({ day: daysAgo(days), servers: 1 })) });
    expect(await daily()).toMatchObject({ averagePlayers: 20, peakPlayers: 30 });
    expect((await daily())?.uptimePercentage).toBeCloseTo(66.67, 1);
  });

  it('leaves a day to the workers if the figures could not be computed', async () => {
    const { server_id } = await cli.addServer('Unfinished');
    const { deps } = cli;
    const noon = after(startOfDay(daysAgo(4)), 12 * HOUR);
    await insert(deps, [probe(new ObjectId(server_id), noon, { onlinePlayers: 9_999 })]);
    const refuse = (validator: object) => deps.mongo.db.command({ collMod: 'servers', validator });
    await refuse({ 'daily.averagePlayers': { $lt: 9_999 } });
    const marks = () => deps.periodMarks.countDocuments({ work: /^aggregate-day/, period: daysAgo(4) });

    expect((await cli.run(`aggregate --day ${daysAgo(4)}`)).code).toBe(1);
    expect(await marks()).toBe(0);
    await refuse({});
    expect((await cli.run(`aggregate --day ${daysAgo(4)}`)).code).toBe(0);
    expect(await marks()).toBe(2);
  });

  it.each([
    ['a day that is not over', () => `--day ${daysAgo(0)}`, 'day-not-over', /is not over yet/],
    ['a day to come', () => `--since ${daysAgo(-2)}`, 'day-not-over', /is not over yet/],
    ['a day whose samples are gone', () => `--day ${daysAgo(35)}`, 'day-too-old', /its samples are gone/],
  ])('refuses %s', async (_, options, code, says) => {
    const { code: exitCode, json } = await cli.run(`aggregate ${options()} --json`);
    expect(exitCode).toBe(1);
    expect(json).toEqual({ error: expect.stringMatching(says), code });
  });

  it.each([
    '',
    ' --day yesterday',
    ' --day 2026-02-30',
    ' --day 2026-11-01 --since 2026-11-01',
  ])('asks for one day: aggregate%s', async (options) => {
    const result = await cli.run(`aggregate${options}`);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain('a day such as 2026-11-20');
  });
});
