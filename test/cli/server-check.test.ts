import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGameServer } from '../probing/probing-bench.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

/** Lists a Minecraft server on this machine and returns its slug. */
async function list(port: number): Promise<string> {
  const line = `server add --name Checked --address 127.0.0.1 --port ${port} --game minecraft --json`;
  return (await cli.run(line)).json.slug as string;
}

it('queries a server now and prints its answer', async () => {
  const far = await startGameServer();
  const slug = await list(far.port);
  const { code, json } = await cli.run(`server check ${slug} --json`);
  expect(code).toBe(0);
  expect(json).toEqual({
    status: 'online',
    online_players: 3,
    players_hidden: false,
    max_players: 20,
    latency_ms: expect.any(Number),
    motd: 'A quiet place',
    server_version: '1.21.4',
  });
  const shown = await cli.run(`server check ${slug}`);
  expect(shown.stdout).toMatch(/answered\.\nStatus: +online\nPlayers: +3 of 20\n/);
});

it('says that a server hides its players', async () => {
  const far = await startGameServer();
  far.status = { description: 'Quiet', version: { name: '1.21.4' }, players: {} };
  const slug = await list(far.port);
  expect((await cli.run(`server check ${slug} --json`)).json).toMatchObject({
    status: 'online',
    online_players: 0,
    players_hidden: true,
    max_players: 0,
  });
  expect((await cli.run(`server check ${slug}`)).stdout).toMatch(/\nPlayers: +players hidden\n/);
  expect((await cli.run(`server show ${slug}`)).stdout).toMatch(/\nPlayers: +players hidden\n/);
  expect((await cli.run(`server show ${slug} --json`)).json).toMatchObject({ players_hidden: true });
});

it('makes a server offline after the third failed check in a row, and online after one answer', async () => {
  const far = await startGameServer();
  const slug = await list(far.port);
  await cli.run(`server check ${slug} --json`);
  await far.stop();
  const statuses = [];
  for (let i = 0; i < 3; i += 1) {
    const { code, json } = await cli.run(`server check ${slug} --json`);
    expect(code).toBe(1);
    expect(json).toMatchObject({ latency_ms: null, error: `Nothing listens on 127.0.0.1:${far.port}.` });
    statuses.push([json.status, json.online_players]);
  }
  expect(statuses).toEqual([
    ['online', 3],
    ['online', 3],
    ['offline', 0],
  ]);
  await far.start();
  expect((await cli.run(`server check ${slug} --json`)).json).toMatchObject({ status: 'online' });
});

it('explains a failure and says what to do', async () => {
  const far = await startGameServer();
  const slug = await list(far.port);
  await far.stop();
  const { code, stdout } = await cli.run(`server check ${slug}`);
  expect(code).toBe(1);
  expect(stdout).toContain(`${slug} did not answer: Nothing listens on 127.0.0.1:${far.port}.`);
  expect(stdout).toContain('Is the server running');
  expect(stdout).toContain('Its status is unknown; failed checks in a row: 1.');
});

it('works with PROBES=off', async () => {
  const far = await startGameServer();
  const slug = await list(far.port);
  cli.env.PROBES = 'off';
  const { json } = await cli.run(`server check ${slug} --json`);
  delete cli.env.PROBES;
  expect(json).toMatchObject({ status: 'online' });
});

it('says how to set a game if a server has none', async () => {
  const { slug } = await cli.addServer('Without a game');
  const { code, json } = await cli.run(`server check ${slug} --json`);
  expect(code).toBe(1);
  expect(json).toEqual({
    error: expect.stringContaining(`server edit ${slug} --game minecraft`),
    code: 'no-game',
  });
});

it('lists a server with two addresses, says what each answered, and removes the second one', async () => {
  const java = await startGameServer();
  const line = `server add --name Both --address 127.0.0.1 --port ${java.port} --game minecraft --second-address 127.0.0.1 --second-port 1024 --json`;
  const slug = (await cli.run(line)).json.slug as string;
  const { code, json } = await cli.run(`server check ${slug} --json`);
  expect(code).toBe(0);
  expect(json).toMatchObject({
    status: 'online',
    online_players: 3,
    addresses: [
      { address: '127.0.0.1', port: java.port, online_players: 3, error: null },
      { address: '127.0.0.1', port: 1_024, online_players: null, error: expect.any(String) },
    ],
  });
  const checked = await cli.run(`server check ${slug}`);
  expect(checked.stdout).toMatch(/127\.0\.0\.1:\d+: 3 of 20\n127\.0\.0\.1:1024: /);
  const shown = await cli.run(`server show ${slug}`);
  expect(shown.stdout).toContain('127.0.0.1:1024 (bedrock): unknown; the first (java): online');
  expect((await cli.run(`server list`)).stdout).toContain(`127.0.0.1:${java.port}, 127.0.0.1:1024`);

  const edited = await cli.run(
    `server edit ${slug} --second-address b.example.org --second-port 19133 --json`,
  );
  expect(edited.json).toMatchObject({ second_address: 'b.example.org', second_port: 19_133 });
  const refused = await cli.run(`server edit ${slug} --game rust`);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('Remove the second address first'),
  ]);
  const removed = await cli.run(`server edit ${slug} --second-address none --json`);
  expect(removed.json).toMatchObject({ second_address: null, second_port: null });
});
