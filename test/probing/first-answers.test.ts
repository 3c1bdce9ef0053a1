import net, { type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { battlefieldPacket } from '../support/battlefield-packet.ts';
import { UdpResponder } from '../support/fake-game-servers.ts';
import { useFastClock } from '../support/fast-clock.ts';
import { answerOf, askHere, at, failureOf, started } from './asking.ts';

// Games that gamedig queries with several questions: what the first answer says holds.
const ask = askHere();
const queryAt = (port: number, game: string) => ({ ...at(port, game), queryPort: port });

/** GameSpy 2 (Battlefield Vietnam): one datagram for the info, others for players and teams. */
class Gamespy2Server extends UdpResponder {
  /** The kinds of questions that it answers: 0 info, 1 players, 2 teams. */
  answered = [0, 1, 2];

  protected answerTo(request: Buffer): Buffer | undefined {
    const kind = request.subarray(7).indexOf(0xff);
    if (!this.answered.includes(kind)) return undefined;
    const header = Buffer.concat([Buffer.from([0]), request.subarray(3, 7)]);
    const info = 'hostname\0Da Nang\0numplayers\x0017\0maxplayers\x0064\0gamever\x001.2\0\0\0';
    return Buffer.concat([header, Buffer.from(kind === 0 ? info : '\0\0\0')]);
  }
}

it.each([
  ['answers all', [0, 1, 2]],
  ['ignores the question for players', [0, 2]],
  ['ignores the question for teams', [0, 1]],
  ['answers only its info', [0]],
])('A GameSpy 2 server that %s keeps its number of players', async (_, answered) => {
  const server = await started(new Gamespy2Server());
  server.answered = answered;
  useFastClock();
  expect(answerOf(await ask(queryAt(server.port, 'battlefieldvietnam')))).toMatchObject({
    onlinePlayers: 17,
    maxPlayers: 64,
    motd: 'Da Nang',
  });
});

const uint = (value: number) => String.fromCharCode(value & 0xff, value >> 8, 0, 0);
/** A text after its length, which counts the NUL at its end. */
const text = (value: string) => `${String.fromCharCode(value.length + 1)}${value}\0`;

/** Unreal Tournament 2004: 0 info, 1 rules, 2 players, each in datagrams of its own. */
class Unreal2Server extends UdpResponder {
  answered = [0, 1, 2];
  rules = text('GamePassword') + text('False');

  protected answerTo(request: Buffer): Buffer | undefined {
    const kind = request[4] ?? 0;
    if (!this.answered.includes(kind)) return undefined;
    const texts = [text('Deck 17'), text('DM-Deck17'), text('xDeathMatch')].join('');
    const info = `${uint(0)}\0${uint(7_777)}${uint(7_778)}${texts}${uint(9)}${uint(16)}${uint(40)}`;
    const body = [info, this.rules, ''][kind];
    return Buffer.from(`\x80\0\0\0${String.fromCharCode(kind)}${body}`, 'latin1');
  }
}

it.each([
  ['answers all', {}],
  ['ignores the question for players', { answered: [0, 1] }],
  ['ignores the question for rules', { answered: [0, 2] }],
  ['answers only its info', { answered: [0] }],
  ['breaks off its rules', { rules: '\x0dGamePass' }],
])('An Unreal 2 server that %s keeps its number of players', async (_, manner) => {
  const server = await started(Object.assign(new Unreal2Server(), manner));
  useFastClock();
  expect(answerOf(await ask(queryAt(server.port, 'unrealtournament2004')))).toMatchObject({
    onlinePlayers: 9,
    maxPlayers: 16,
    motd: 'Deck 17',
  });
});

/** What a Battlefield server does at a command, by its first word: it answers, closes the connection, or is silent. */
type Manners = Record<string, string[] | 'close'>;

const SERVER_INFO = ['OK', 'Caspian Border', '41', '64', 'ConquestLarge0', 'MP_007', '0', '1', '0', '0', ''];
const VERSION = ['OK', 'BF4', '179665'];

/** A Battlefield 4 server. */
async function battlefield(manners: Manners): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const manner = manners[bytes.toString('latin1', 16).split('\0')[0] ?? ''];
      if (manner === 'close') socket.end();
      else if (manner) socket.write(battlefieldPacket(manner));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it.each<[string, Manners, string]>([
  ['answers all', { version: VERSION, listPlayers: ['OK', '1', 'name', '0'] }, '179665'],
  ['refuses the list of players', { version: VERSION, listPlayers: ['LogInRequired'] }, '179665'],
  ['closes at the list of players', { version: VERSION, listPlayers: 'close' }, '179665'],
  ['refuses its version', { version: ['UnknownCommand'] }, ''],
  ['closes after its info', { version: 'close' }, ''],
  ['is silent after its info', {}, ''],
])('A Battlefield server that %s keeps its number of players', async (_, manners, version) => {
  const port = await battlefield({ serverInfo: SERVER_INFO, ...manners });
  useFastClock();
  expect(answerOf(await ask(queryAt(port, 'battlefield4')))).toMatchObject({
    onlinePlayers: 41,
    maxPlayers: 64,
    motd: 'Caspian Border',
    version,
  });
});

it('A Battlefield server that refuses its info has not answered', async () => {
  const port = await battlefield({ serverInfo: ['LogInRequired'], version: VERSION });
  useFastClock();
  expect(failureOf(await ask(queryAt(port, 'battlefield4')))).toBe('answer-broken');
});
