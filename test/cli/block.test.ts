import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cli, openCli, tallyport } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

it('names and networks are blocked, listed and lifted', async () => {
  expect((await cli.run('block list')).stdout).toBe('Nothing is blocked.\n');
  const named = await cli.run('block name --json --reason Insults --until 2999-01-01', 'Steve');
  expect(named).toMatchObject({
    code: 0,
    json: { kind: 'name', value: 'Steve', ends_at: '2999-01-01T00:00:00.000Z', in_effect: true, hits: 0 },
  });
  const ranged = await cli.run('block network 2001:db8:1::7/48 --reason Bots');
  expect(ranged.stdout).toMatch(/^2001:db8:1::\/48 is blocked \(block [0-9a-f]{24}\)\./);
  expect(await cli.run('block name steve --reason Again')).toMatchObject({
    code: 1,
    stderr: 'This is blocked already.\n',
  });
  const { stdout } = await cli.run('block list');
  expect(stdout).toMatch(/name +Steve +until 2999-01-01/);
  expect(stdout).toMatch(/network +2001:db8:1::\/48 +blocked/);
  const id = String(named.json.block_id);
  expect((await cli.run(`block lift ${id}`)).stdout).toContain('“Steve” is no longer blocked.');
  expect(await cli.run(`block lift ${id} --json`)).toMatchObject({
    code: 1,
    json: { code: 'block-not-found' },
  });
});

it('a very large network is blocked only after a confirmation', async () => {
  const args = ['block', 'network', '203.0.0.0/8', '--reason', 'x'];
  expect(await cli.run(args.join(' '))).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  const { env } = cli;
  expect((await tallyport(args, { env, isTTY: true, input: 'n\n' })).stderr).toContain(
    'Nothing was changed.',
  );
  expect((await tallyport(args, { env, isTTY: true, input: 'y\n' })).code).toBe(0);
  expect((await cli.run('block network ::/0 --reason x --yes')).code).toBe(0);
  expect((await cli.run('block network 1.2.3 --reason x --yes')).stderr).toContain(
    'Enter an address or a network',
  );
});

it('one player is excluded on all servers, and the exclusion is undone', async () => {
  const [one, other] = [await cli.addServer('One'), await cli.addServer('Other')];
  for (const { server_id } of [one, other])
    await cli.cast(server_id, 'Bot', new Date(Date.now() - 3_600_000));
  const preview = await cli.run('vote exclude-player bot --reason x --dry-run --json');
  expect(preview.json).toMatchObject({ dry_run: true, votes: 2 });
  expect((await cli.run('vote exclude-player nobody --reason x')).stdout).toContain('nothing was changed');
  // The range ends before the last seconds: otherwise the exclusion would wait for votes under way.
  const until = new Date(Date.now() - 1_800_000).toISOString();
  const done = await cli.run(`vote exclude-player bot --reason x --until ${until} --json`);
  expect(done.json).toMatchObject({ servers: 2, votes: 2 });
  expect((await cli.run('vote exclusions one')).stdout).toMatch(/ bot +1 +excluded/);
  const undone = await cli.run(`vote include ${done.json.exclusion_id}`);
  expect(undone.stdout).toContain('is undone on 2 servers: its 2 votes count again');
  expect(await cli.deps.votes.countDocuments({ excludedAt: { $exists: true } })).toBe(0);
});
