import net, { type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  FivemServer,
  NO_PERMISSION,
  SampServer,
  TeamspeakServer,
  type WebManner,
} from '../support/fake-community-servers.ts';
import { useFastClock } from '../support/fast-clock.ts';
import { answerOf, askHere, at, failureOf, started } from './asking.ts';

const ask = askHere();

describe('A FiveM server', () => {
  it.each<[WebManner, string]>([
    ['answers', 'v1.0.0.7290'],
    ['forbids', ''],
    ['closed', ''],
    ['silent', ''],
    ['drips', ''],
    ['resets', ''],
    ['speaks-html', ''],
  ])('whose /info.json %s keeps what it said over UDP', async (web, version) => {
    const server = new FivemServer();
    server.web = web;
    await started(server);
    useFastClock();
    expect(answerOf(await ask(at(server.port, 'gta5f')))).toMatchObject({
      onlinePlayers: 77,
      maxPlayers: 128,
      motd: 'Night City',
      version,
    });
  });

  it.each([
    ['hides its players', { clients: '' }, { onlinePlayers: null, maxPlayers: 128 }],
    ['has an impossible limit', { sv_maxclients: 'many' }, { onlinePlayers: 77, maxPlayers: null }],
    [
      'has numbers out of range',
      { clients: '-4', sv_maxclients: '99999999999' },
      { onlinePlayers: 0, maxPlayers: 2_147_483_647 },
    ],
    ['has an empty name', { hostname: '' }, { motd: '', onlinePlayers: 77 }],
  ])('that %s is online', async (_, changed, answer) => {
    const server = await started(new FivemServer());
    Object.assign(server.settings, changed);
    expect(answerOf(await ask(at(server.port, 'fivem')))).toMatchObject(answer);
  });

  it.each([
    [{ server: 'FXServer-master SERVER v1.0.0.12913 linux' }, 'v1.0.0.12913'],
    [{ server: 'a build of our own', version: -1_362_142_591 }, ''],
    [{ version: 1_362_142_591 }, ''],
    [null, ''],
    [[], ''],
  ])('with the info %j has the version «%s»', async (info, version) => {
    const server = await started(new FivemServer());
    server.info = info;
    expect(answerOf(await ask(at(server.port, 'redm'))).version).toBe(version);
  });
});

describe('A SA-MP server', () => {
  it.each([
    ['samp', 'ir', '0.3.7-R2'],
    ['samp', 'i', ''],
    ['samp', 'id', ''],
    ['gtasao', 'icd', ''],
    ['gtasao', 'irc', '0.3.7-R2'],
  ])('(%s) that answers only to %s keeps its info', async (game, answered, version) => {
    const server = await started(new SampServer());
    server.answered = answered;
    useFastClock();
    expect(answerOf(await ask(at(server.port, game)))).toMatchObject({
      onlinePlayers: 3,
      maxPlayers: 50,
      motd: 'Los Santos',
      version,
    });
  });

  it('is not asked for its players', async () => {
    const server = await started(new SampServer());
    await ask(at(server.port, 'samp'));
    expect(server.letters).toEqual(['i', 'r']);
  });

  it('of Vice City has its version in the info', async () => {
    const server = await started(new SampServer());
    server.isVcmp = true;
    expect(answerOf(await ask(at(server.port, 'vcmp')))).toMatchObject({
      onlinePlayers: 3,
      version: '04rel006',
    });
    expect(server.letters).toEqual(['i']);
  });

  it('that repeats another question has not answered', async () => {
    const server = await started(new SampServer());
    server.manner = { answer: Buffer.from('SAMP\x7f\0\0\x01\0\0i\0\x03\0\x32\0\x04\0\0\0Name', 'latin1') };
    useFastClock();
    expect(failureOf(await ask(at(server.port, 'samp')))).toBe('answer-broken');
  });
});

describe('A TeamSpeak server', () => {
  const asked = (server: TeamspeakServer) => ask({ ...at(9_988, 'teamspeak3'), queryPort: server.port });

  it('counts clients without query clients, for the server of the players’ port', async () => {
    const server = await started(new TeamspeakServer());
    expect(answerOf(await asked(server))).toMatchObject({
      onlinePlayers: 5,
      maxPlayers: 32,
      motd: 'Our room',
      version: '3.13.7 [Build: 1655727713]',
    });
    expect(server.commands).toEqual(['use port=9988', 'serverinfo']);
  });

  it.each([
    ['only our query client', { virtualserver_clientsonline: '1', virtualserver_queryclientsonline: '1' }, 0],
    [
      'more query clients than clients',
      { virtualserver_clientsonline: '1', virtualserver_queryclientsonline: '3' },
      0,
    ],
    ['no number of query clients', { virtualserver_clientsonline: '4' }, 4],
  ])('with %s is counted right', async (_, counts, onlinePlayers) => {
    const server = await started(new TeamspeakServer());
    server.info = { virtualserver_name: 'Us', ...counts };
    expect(answerOf(await asked(server))).toMatchObject({ onlinePlayers, maxPlayers: null, motd: 'Us' });
  });

  it.each([
    ['refuses clientlist', { clientlist: NO_PERMISSION }, { onlinePlayers: 5, motd: 'Our room' }],
    ['refuses serverinfo', { serverinfo: NO_PERMISSION }, { onlinePlayers: 1, motd: '' }],
    [
      'refuses both',
      { serverinfo: NO_PERMISSION, clientlist: NO_PERMISSION },
      { onlinePlayers: null, motd: '' },
    ],
    ['never answers serverinfo', { serverinfo: '' }, { onlinePlayers: null, motd: '' }],
    [
      'never answers clientlist',
      { serverinfo: 'virtualserver_name=Us\n\rerror id=0 msg=ok\n\r', clientlist: '' },
      { onlinePlayers: null, motd: 'Us' },
    ],
    [
      'has query clients in its list',
      {
        serverinfo: 'virtualserver_name=Us\n\rerror id=0 msg=ok\n\r',
        clientlist:
          'clid=1 client_type=1|clid=2 client_type=0|clid=3 client_nickname=a\\pb client_type=0\n\rerror id=0 msg=ok\n\r',
      },
      { onlinePlayers: 2 },
    ],
  ])('that %s is online', async (_, answers, answer) => {
    const server = await started(new TeamspeakServer());
    server.answers = answers;
    useFastClock();
    expect(answerOf(await asked(server))).toMatchObject(answer);
  });

  it.each([
    [
      'has no such server',
      { answers: { use: 'error id=1024 msg=invalid\\sserverID\n\r' } },
      'refuses the port 9988: invalid serverID.',
    ],
    ['speaks something else', { greeting: 'SSH-2.0-OpenSSH_9.2\r\n' }, 'is not an answer of this game.'],
  ])('that %s has not answered', async (_, manner, words) => {
    const server = await started(Object.assign(new TeamspeakServer(), manner));
    const probe = await asked(server);
    expect(failureOf(probe)).toBe('answer-broken');
    expect(probe).toMatchObject({ message: expect.stringContaining(words) });
  });
});

/** A TeamSpeak 2 server (TeamSpeak 2 TCP query commands). */
async function teamspeak2(answers: Record<string, string>) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {}).write('[TS]\r\n');
    socket.on('data', (bytes) => {
      socket.write(answers[bytes.toString().trim().split(' ')[0] ?? ''] ?? 'OK\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const INFO2 = 'server_id=1\r\nserver_name=Old room\r\nserver_maxusers=20\r\n';
const LIST2 = 'p_id\tc_id\tnick\r\n1\t1\t"Ada"\r\n2\t1\t"Bob"\r\n';

it.each([
  ['a number of users', { si: `${INFO2}server_currentusers=4\r\nOK\r\n`, pl: 'ERROR, no\r\n' }, 4],
  ['a list only', { si: `${INFO2}OK\r\n`, pl: `${LIST2}OK\r\n` }, 2],
  ['neither', { si: `${INFO2}OK\r\n`, pl: 'ERROR, not logged in\r\n' }, null],
])('A TeamSpeak 2 server with %s is online', async (_, answers, onlinePlayers) => {
  const port = await teamspeak2(answers);
  const probe = await ask({ ...at(8_767, 'teamspeak2'), queryPort: port });
  expect(answerOf(probe)).toMatchObject({ onlinePlayers, maxPlayers: 20, motd: 'Old room' });
});
