import { Collection, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { markDone } from '../../src/platform/periods/period-marks.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

it('computes the ranking now, and explains a rank by its figures', async () => {
  const first = await cli.addServer('First');
  const middle = await cli.addServer('Middle');
  const voted = await cli.addServer('Voted');
  const notYet = await cli.run(`rank explain ${voted.slug}`);
  expect(notYet.stdout).toContain('not yet: it is last until the next ranking');
  await cli.cast(voted.server_id, 'Steve');
  await cli.deps.servers.updateOne(
    { _id: new ObjectId(first.server_id) },
    { $set: { 'daily.probedUptime': 99.5 } },
  );

  expect((await cli.run('rank --json')).json).toEqual({ servers: 3, moved: 3, weighed: 0 });
  expect((await cli.run('rank')).stdout).toBe('Ranked 3 servers; 0 have a new rank.\n');
  await cli.cast(first.server_id, 'Later');
  const { json } = await cli.run(`rank explain ${first.slug} --json`);
  expect(json).toMatchObject({
    rank_position: 2,
    votes_count: 0,
    probed_uptime: 99.5,
    listed: 3,
    ranked_at: expect.stringMatching(/Z$/),
    above: { slug: voted.slug, rank_position: 1, votes_count: 1, decided_by: 'votes' },
    below: { slug: middle.slug, rank_position: 3, decided_by: 'uptime' },
  });
  const days = Object.entries(json.votes_by_day as Record<string, number>);
  expect(days).toHaveLength(30);
  expect(days.at(-1)).toEqual([new Date().toISOString().slice(0, 10), 1]);
  const { stdout } = await cli.run(`rank explain ${first.slug}`);
  expect(stdout).toMatch(/Rank: +2 of 3/);
  expect(stdout).toMatch(
    /1 +voted +1 +1 +none .*by what its votes weigh\n2 +first +0 +0 +99\.50 % .*\n3 +middle .*by probed uptime/,
  );
  expect(stdout).toContain(': 0; 1 now, which the next ranking counts.');
});

it('explains what votes weigh, and lets votes count without evidence', async () => {
  const { slug, server_id } = await cli.addServer('Bought');
  const serverId = new ObjectId(server_id);
  const today = new Date().toISOString().slice(0, 10);
  const key = { serverId, month: today.slice(0, 7) };
  const weight = { of: 500, tenths: 444, isFinal: false, players: 12, newcomers: 84, waiting: 380 };
  await cli.deps.periodMarks.deleteMany({ work: 'weigh-votes' });
  await markDone(cli.deps, 'weigh-votes', today);
  const set = { [`days.${today.slice(8)}`]: 500, [`weighed.${today.slice(8)}`]: weight };
  await cli.deps.voteCounters.updateOne(key, { $set: set }, { upsert: true });
  expect((await cli.run(`rank explain ${slug} --json`)).json).toMatchObject({
    rank_votes_by_day: { [today]: 44.4 },
    votes_weighing_less: { network: 0, newcomers: 84, api: 0, waiting: 380, later: 0 },
  });
  expect((await cli.run(`rank explain ${slug}`)).stdout).toMatch(
    / 500 +44\.4 +84 of new names, 380 waiting for an operator/,
  );

  const allowed = await cli.run(`rank allow ${slug} 600 --json`, '--reason', 'A streamer played here');
  expect(allowed.json).toEqual({ server_id, votes_a_day: 600 });
  expect(await cli.deps.voteCounters.findOne(key)).not.toHaveProperty('weighed');
  expect((await cli.run(`rank allow ${slug} -1 --reason x --json`)).code).not.toBe(0);
  expect((await cli.run(`rank allow ${slug} some --json`, '--reason', 'x')).json.code).toBeDefined();
});

it('lets no votes count of a server that is removed meanwhile', async () => {
  const { slug } = await cli.addServer('Removed meanwhile');
  vi.spyOn(Collection.prototype, 'findOneAndUpdate').mockResolvedValueOnce(null);
  const result = await cli.run(`rank allow ${slug} 600 --reason streamer --json`);
  expect(result).toMatchObject({ code: 1, json: { code: 'server-not-found' } });
});

it('excludes votes with a reason, shows the exclusion, and undoes it', async () => {
  const { slug, server_id } = await cli.addServer('Flooded');
  // Cast a minute ago, so that an exclusion does not wait for votes under way.
  const votedAt = new Date(Date.now() - 60_000);
  const voteId = await cli.cast(server_id, 'Bought', votedAt);
  const since = new Date(votedAt.getTime() - 1_000).toISOString();
  const until = new Date(votedAt.getTime() + 1_000).toISOString();
  const exclude = (...more: string[]) =>
    cli.run(`vote exclude ${slug} --since ${since} --until ${until} --json`, '--reason', 'A flood', ...more);
  const votes = async () => (await cli.run(`server show ${slug} --json`)).json.votes_count;
  expect((await exclude('--token', 'f'.repeat(24))).json.code).toBe('token-not-found');

  const { json } = await exclude();
  expect(json).toMatchObject({ state: 'excluded', votes: 1, reason: 'A flood', by: 'cli', undone: null });
  expect((await exclude()).json.exclusion_id).toBe(json.exclusion_id);
  expect(await votes()).toBe(0);
  expect((await cli.run(`vote show ${voteId} --json`)).json).toMatchObject({
    excluded_at: expect.stringMatching(/Z$/),
    exclusions: [{ exclusion_id: json.exclusion_id, reason: 'A flood' }],
  });
  expect((await cli.run(`vote show ${voteId}`)).stdout).toMatch(
    /Excluded: +from every count, by cli: “A flood”/,
  );
  expect((await cli.run(`vote list ${slug}`)).stdout).toMatch(/Bought .* excluded\n/);
  expect((await cli.run(`vote exclusions ${slug}`)).stdout).toMatch(/ all +1 +excluded +cli, .*A flood\n/);

  expect((await cli.run(`vote include ${json.exclusion_id} --json`)).json).toMatchObject({
    state: 'included',
    undone: { by: 'cli' },
  });
  expect(await votes()).toBe(1);
  expect((await cli.run(`vote include ${'0'.repeat(24)} --json`)).json.code).toBe('exclusion-not-found');
});

it('refuses to exclude votes of the future', async () => {
  const { slug } = await cli.addServer('Future');
  const result = await cli.run(
    `vote exclude ${slug} --since 2026-01-01 --until 2999-01-01 --reason bought --json`,
  );
  expect(result).toMatchObject({ code: 1, json: { code: 'range-not-over' } });
});
