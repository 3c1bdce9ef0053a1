import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportStatus } from '../../src/history/report-status.ts';
import { addOwner } from '../support/owned-server.ts';
import { type Cli, openCli, tallyport } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

describe('server add', () => {
  it('lists a server and gives its id and slug', async () => {
    const added = await cli.run(
      'server add --name Alpha --address Play.Example.org --port 25565 --query-port 25566 --game minecraft --country de --premium --json',
    );

    expect(added.code).toBe(0);
    expect(added.json).toEqual({ server_id: expect.stringMatching(/^[0-9a-f]{24}$/), slug: 'alpha' });
    expect(await cli.deps.servers.findOne({ slug: 'alpha' })).toMatchObject({
      name: 'Alpha',
      address: 'play.example.org',
      port: 25_565,
      queryPort: 25_566,
      game: 'minecraft',
      countryCode: 'DE',
      isPremium: true,
    });
  });

  it('prints what was done and the next step', async () => {
    const { code, stdout, stderr } = await cli.run('server add --name Bravo --address b.example --port 1');

    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Listed as bravo, with the id [0-9a-f]{24}\.\nIt has no game, so it is not probed.*\nNext: .*node src\/cli\.ts token issue bravo\n/,
    );
    expect(stderr).toBe('');
  });

  it('prints the game, and warns of an address that is not probed', async () => {
    const result = await cli.run('server add --name Charlie --game bedrock --address 10.0.0.7 --port 19132');

    expect(result.stdout).toMatch(
      /\nIts game is Minecraft: Bedrock Edition \(\w+\)\. .*server check charlie\n/,
    );
    expect(result.stderr).toMatch(
      /^Warning: 10\.0\.0\.7 is not a public address .*\(ALLOWED_PRIVATE_RANGES, REFUSED_RANGES\)\.\n$/,
    );
  });

  it('shows the reason of a server’s status', async () => {
    const { slug, server_id } = await cli.addServer('Silent');
    expect((await cli.run(`server show ${slug}`)).stdout).toMatch(/Status: +unknown: it has no game/);
    const since = new Date(Date.now() - 60_000);
    await cli.deps.servers.updateOne(
      { _id: new ObjectId(server_id) },
      {
        $set: {
          game: 'minecraft',
          'probe.status': 'offline',
          'probe.checkedAt': new Date(),
          'probe.offlineSince': since,
        },
      },
    );
    expect((await cli.run(`server show ${slug}`)).stdout).toMatch(
      /Status: +offline since .*\(1 minute ago\)\n/,
    );
  });

  it('returns 1 and prints one sentence for each error', async () => {
    const plain = await cli.run('server add --address 1.2.3 --port 1 --name', 'a\nb');
    const json = await cli.run('server add --name x --address http://x --port 1 --country XXX --json');

    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr.trim().split('\n')).toHaveLength(2);
    expect(json.code).toBe(1);
    expect(json.json).toEqual({ error: expect.stringContaining('two letters'), code: 'invalid-input' });
  });
});

describe('server games', () => {
  it('finds the games that --game accepts, in every spelling', async () => {
    const found = await cli.run('server games bedrock --json');
    const game = { id: 'mbe', name: 'Minecraft: Bedrock Edition', port: 19_132, probed: true, reason: null };
    expect(found).toMatchObject({ code: 0, json: { games: [game] } });

    const { slug } = await cli.addServer('Bedrock');
    await cli.run(`server edit ${slug} --game`, 'minecraft bedrock');
    expect((await cli.run(`server show ${slug} --json`)).json.game).toBe('mbe');
  });

  it('says which cannot be probed, and why', async () => {
    const { stdout } = await cli.run('server games squad');
    expect(stdout).toMatch(/^ID +NAME +PORT +PROBED\nsquad +Squad +\d+ +no\nNot probed: .*\.\n$/);
  });

  it('suggests similar games for an unknown one', async () => {
    const result = await cli.run('server add --name x --address x.example --port 1 --game valhiem --json');
    expect(result.code).toBe(1);
    expect(result.json).toEqual({
      error: 'There is no game “valhiem” in the list. Similar: valheim (Valheim).',
      code: 'invalid-input',
    });
  });
});

describe('server list and show', () => {
  it('show every figure that the API shows', async () => {
    const { server_id, slug } = await cli.addServer('Shown');
    const shown = await cli.run(`server show ${slug} --json`);
    const listed = (await cli.run('server list --json')).json.servers as Record<string, unknown>[];

    expect(shown.json).toMatchObject({
      server_id,
      slug,
      name: 'Shown',
      address: 'play.example.org',
      port: 25_565,
      query_port: null,
      listed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      removed_at: null,
      status: 'unknown',
      votes_count: 0,
      monthly_votes: 0,
      all_time_votes: 0,
      listener_state: null,
      tokens: 0,
    });
    expect(listed).toContainEqual(expect.objectContaining({ server_id, slug }));
    expect((await cli.run(`server show ${server_id}`)).stdout).toMatch(
      /Listed: +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \((just now|\d+ seconds? ago)\)/,
    );
  });

  it('name the present status: of a report, and unknown when the last probe is too old', async () => {
    const [reporting, probed] = [await cli.addServer('Reporting'), await cli.addServer('Long unprobed')];
    await reportStatus(cli.deps, new ObjectId(reporting.server_id), { onlinePlayers: 3, maxPlayers: 10 });
    await cli.deps.servers.updateOne(
      { _id: new ObjectId(probed.server_id) },
      { $set: { 'probe.status': 'online', 'probe.checkedAt': new Date(Date.now() - 86_400_000) } },
    );
    const { stdout } = await cli.run('server list');
    for (const [name, { slug }, status] of [
      ['Reporting', reporting, 'online'],
      ['Long unprobed', probed, 'unknown'],
    ] as const) {
      expect(stdout.split('\n').find((line) => line.includes(name))).toMatch(new RegExp(` ${status} `));
      expect((await cli.run(`server show ${slug} --json`)).json).toMatchObject({ status });
    }
  });

  it('align their columns, also with wide characters', async () => {
    await cli.run('server add --address w.example --port 1 --name', '我的世界 🎮');
    const lines = (await cli.run('server list')).stdout.split('\n');
    const column = lines[0]?.indexOf('ADDRESS') ?? -1;
    const wide = lines.find((line) => line.includes('我的世界')) ?? '';
    const plain = lines.find((line) => line.includes('Shown')) ?? '';

    expect(plain.indexOf('play.example.org')).toBe(column);
    // The name has five characters of two columns each; the emoji also has two UTF-16 units.
    expect(wide.indexOf('w.example')).toBe(column - 4);
  });

  it('return 1 if there is no such server', async () => {
    for (const server of ['nobody', new ObjectId().toHexString()]) {
      const result = await cli.run(`server show ${server} --json`);

      expect(result.code).toBe(1);
      expect(result.json).toEqual({ error: expect.stringContaining(server), code: 'server-not-found' });
    }
  });

  it('finds a slug and an id in capital letters too', async () => {
    const { slug, server_id } = await cli.addServer('Capital');
    for (const typed of [slug.toUpperCase(), server_id.toUpperCase()]) {
      expect((await cli.run(`server show ${typed} --json`)).json.server_id).toBe(server_id);
    }
  });
});

describe('server edit', () => {
  it('changes the given settings, also to "not known"', async () => {
    const { slug } = await cli.addServer('Edited');
    await cli.run(`server edit ${slug} --query-port 7 --game minecraft --country AT --premium`);
    const before = await cli.run(`server show ${slug} --json`);
    const result = await cli.run(
      `server edit ${slug} --name none --query-port none --game none --country none --no-premium --json`,
    );

    expect(before.json).toMatchObject({
      query_port: 7,
      game: 'minecraft',
      country_code: 'AT',
      is_premium: true,
    });
    expect(result.code).toBe(0);
    expect(result.json).toMatchObject({
      slug: 'none',
      name: 'none',
      port: 25_565,
      query_port: null,
      game: null,
      country_code: null,
      is_premium: false,
    });
    expect((await cli.run(`server edit ${slug} --port 7`)).stdout).toBe('Changed none.\n');
  });
});

it('show gives the reason for which a server is hidden, and no rank and status of a removed one', async () => {
  const { server_id, slug } = await cli.addServer('Gone');
  const hidden = { hiddenAt: new Date(), hiddenReason: 'Spam' };
  await cli.deps.servers.updateOne({ _id: new ObjectId(server_id) }, { $set: hidden });
  expect((await cli.run(`server show ${slug} --json`)).json).toMatchObject({
    hidden_at: hidden.hiddenAt.toISOString(),
    hidden_reason: 'Spam',
    rank_position: expect.any(Number),
    status: 'unknown',
  });
  await cli.run(`server remove ${slug} --yes`);
  const stale = { rank_position: null, status: null };
  expect((await cli.run(`server show ${slug} --json`)).json).toMatchObject(stale);
  const { servers } = (await cli.run('server list --removed --json')).json;
  expect(servers).toContainEqual(expect.objectContaining({ server_id, ...stale }));
  const { stdout } = await cli.run(`server show ${slug}`);
  expect(stdout).toMatch(/^Rank: +-\nStatus: +removed$/m);
  expect(stdout).not.toContain('Next check');
});

describe('server remove', () => {
  it('does not ask for --yes if there is no such server', async () => {
    expect((await cli.run('server remove nope --json')).json.code).toBe('server-not-found');
  });

  it('needs a confirmation or --yes', async () => {
    const { slug } = await cli.addServer('Staying');
    const result = await cli.run(`server remove ${slug}`);

    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain('--yes');
    expect((await cli.run(`server show ${slug} --json`)).json.removed_at).toBeNull();
  });

  it('asks for confirmation at a terminal, and changes nothing unless the answer is yes', async () => {
    const { slug } = await cli.addServer('Asked');
    const remove = (input: string) =>
      tallyport(['server', 'remove', slug], { env: cli.env, input, isTTY: true });

    for (const typed of ['n\n', '\n', '']) {
      const result = await remove(typed);
      expect(result).toMatchObject({ code: 1, stdout: '' });
      expect(result.stderr).toContain(`Remove “Asked” (${slug}) for ever? [y/N] `);
      expect(result.stderr).toMatch(/Nothing was changed\.\n$/);
    }
    expect(await remove('y\n')).toMatchObject({
      code: 0,
      stdout: `Removed ${slug}; 0 waiting votes failed.\n`,
    });
  });

  it('removes the server; running it again changes nothing', async () => {
    const { slug, server_id } = await cli.addServer('Leaving');
    const first = await cli.run(`server remove ${slug} --yes --json`);
    const second = await cli.run(`server remove ${server_id} --yes --json`);
    const third = await cli.run(`server remove ${slug} --yes`);

    expect(first.json).toEqual({ server_id, slug, removed_at: expect.any(String), failed_votes: 0 });
    expect(second.json).toEqual(first.json);
    expect(third).toMatchObject({ code: 0, stdout: expect.stringMatching(`^${slug} was already removed: `) });
    expect((await cli.run('server list')).stdout).not.toContain(server_id);
    expect((await cli.run('server list --removed')).stdout).toContain(server_id);
    expect((await cli.run(`server edit ${slug} --port 2 --json`)).json.code).toBe('server-not-found');
    expect((await cli.run(`token issue ${slug} --json`)).json.code).toBe('server-not-found');
  });
});

describe('server transfer', () => {
  it('gives a server to the user with an address; show and list print it', async () => {
    const { slug, server_id } = await cli.addServer('Handed over');
    expect((await cli.run(`server show ${slug} --json`)).json).toMatchObject({
      owner_email: null,
      proof: null,
    });
    const email = 'olivia@example.org';
    await addOwner(cli.deps, { email });
    const given = await cli.run(`server transfer ${slug} --email Olivia@example.org --json`);
    expect(given).toMatchObject({ code: 0, json: { server_id, slug, owner_email: email } });
    expect((await cli.run(`server show ${slug}`)).stdout).toMatch(
      /Owner: +olivia@example\.org, proved by an operator’s word /,
    );
    const lines = (await cli.run('server list')).stdout.split('\n');
    expect(lines[0]).toMatch(/STATUS +OWNER +ID/);
    expect(lines.find((line) => line.includes(slug))).toContain(email);
    const entry = { action: 'server.transfer', serverId: new ObjectId(server_id) };
    expect(await cli.deps.auditLog.findOne(entry)).toMatchObject({
      by: 'cli',
      details: { to: email },
    });
  });

  it('returns 1 if no user has the address', async () => {
    const { slug } = await cli.addServer('Kept');
    const result = await cli.run(`server transfer ${slug} --email nobody@example.org --json`);
    expect(result).toMatchObject({ code: 1, json: { code: 'user-not-found' } });
  });
});
