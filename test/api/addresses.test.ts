import { type CommandStartedEvent, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { editServer } from '../../src/servers/listed-servers.ts';
import { hideServer } from '../../src/servers/moderate-server.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { ask } from '../support/api-description.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp({ TRUST_PROXY: '1' });
});
afterAll(() => tallyport.close());

let networks = 0;
/** Calls without a token, from a network of its own. */
const open = (id: unknown, headers: Record<string, string> = {}) =>
  ask(`${tallyport.url}/api/v1/servers/${id}/addresses`, {
    headers: { 'x-forwarded-for': `203.0.113.${++networks}`, ...headers },
  });

const seen = (status: 'online' | 'offline', onlinePlayers: number | null, checkedAt: Date) => ({
  status,
  onlinePlayers,
  checkedAt,
  failures: 0,
  failuresByHand: 0,
  intervalSeconds: 300,
});

test('a server of Minecraft with two addresses tells the state of each, and info is that of the first', async () => {
  const { deps } = tallyport;
  const server = await tallyport.addServer();
  const settings = { game: 'minecraft', address: 'play.example.org', port: 25_565 };
  await editServer(deps, server.serverId, { ...settings, secondAddress: 'play.example.org' }, 'test');
  const now = tallyport.clock.now();
  await deps.servers.updateOne(
    { _id: server.serverId },
    { $set: { 'second.firstState': seen('online', 40, now), 'second.state': seen('offline', 6, now) } },
  );
  const { status, body, headers } = await tallyport.call(server, 'addresses');
  expect(status).toBe(200);
  expect(body).toEqual({
    addresses: [
      {
        edition: 'java',
        address: 'play.example.org',
        connection_port: 25_565,
        status: 'online',
        online_players: 40,
      },
      {
        edition: 'bedrock',
        address: 'play.example.org',
        connection_port: 19_132,
        status: 'offline',
        online_players: 0,
      },
    ],
  });
  const tag = String(headers.get('etag'));
  expect((await tallyport.call(server, 'addresses', { headers: { 'if-none-match': tag } })).status).toBe(304);
  const { body: info } = await tallyport.call(server, 'info');
  expect(Object.keys(info as object)).toHaveLength(22);
  expect(info).toMatchObject({ address: 'play.example.org', connection_port: 25_565 });
});

test('a server of another game has one address without an edition, with the figures of the server', async () => {
  const { deps } = tallyport;
  const server = await tallyport.addServer();
  await editServer(deps, server.serverId, { game: 'rust' }, 'test');
  const { address, port } = (await deps.servers.findOne({ _id: server.serverId })) ?? {};
  const only = { edition: null, address, connection_port: port, status: 'unknown', online_players: 0 };
  expect((await tallyport.call(server, 'addresses')).body).toEqual({ addresses: [only] });
  await tallyport.report(server, { online_players: 5, max_players: 9 });
  expect((await tallyport.call(server, 'addresses')).body).toEqual({
    addresses: [{ ...only, status: 'online', online_players: 5 }],
  });
  await deps.servers.updateOne(
    { _id: server.serverId },
    { $set: { 'current.onlinePlayers': 0, 'current.playersHidden': true } },
  );
  expect((await tallyport.call(server, 'addresses')).body).toMatchObject({
    addresses: [{ online_players: null }],
  });
});

test('it works without a token while the server is listed; everything else is the same 401', async () => {
  const { deps } = tallyport;
  const server = await tallyport.addServer();
  const other = await tallyport.addServer();
  const removed = await tallyport.addServer();
  expect((await open(server.serverId)).status).toBe(200);
  await hideServer(deps, other.serverId, { reason: 'Copy' }, 'test');
  await removeServer(deps, removed.serverId, 'test');
  const refused = await Promise.all([
    open(other.serverId),
    open(removed.serverId),
    open(new ObjectId()),
    open('no-id'),
    open(server.serverId, { authorization: 'Bearer tp_wrong' }),
    open(server.serverId, { authorization: `Bearer ${other.token}` }),
  ]);
  for (const { status, body } of refused) expect([status, body]).toEqual([401, refused[0]?.body]);
  expect((await tallyport.call(other, 'addresses')).status).toBe(200);
});

test('it makes the queries of info, whether the server has two addresses or one', async () => {
  const { deps } = tallyport;
  const [one, two] = [await tallyport.addServer(), await tallyport.addServer()];
  await editServer(deps, two.serverId, { game: 'minecraft', secondAddress: 'b.example.org' }, 'test');
  // Authentications are cached for some seconds.
  for (const server of [one, two]) await tallyport.call(server, 'info');
  const client = deps.mongo.connection.getClient();
  const asked: string[] = [];
  const note = ({ commandName, command }: CommandStartedEvent) => {
    if (command[commandName] === 'servers') asked.push(commandName);
  };
  client.on('commandStarted', note);
  await tallyport.call(one, 'info');
  const ofInfo = asked.splice(0);
  await tallyport.call(one, 'addresses');
  const ofOne = asked.splice(0);
  await tallyport.call(two, 'addresses');
  client.off('commandStarted', note);
  expect(asked).toEqual(ofOne);
  expect(ofOne).toEqual(ofInfo);
});
