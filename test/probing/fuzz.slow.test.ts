import { createSocket, type RemoteInfo } from 'node:dgram';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { games } from 'gamedig';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gameOf, listGames } from '../../src/games/games.ts';
import { transportOf } from '../../src/games/protocols.ts';
import { decodeText, textFormatOf } from '../../src/games/text-formats.ts';
import type { Probe } from '../../src/probing/ask.ts';
import { fivemVersion, notABot, readQuakeStatus, statusSaid } from '../../src/probing/protocols/quake.ts';
import { readInfo, readRules } from '../../src/probing/protocols/samp.ts';
import { readTeamSpeakReply, TEAMSPEAK2, TEAMSPEAK3 } from '../../src/probing/protocols/teamspeak.ts';
import { readServerAnswer } from '../../src/probing/read-answer.ts';
import { battlefieldPacket } from '../support/battlefield-packet.ts';
import { cpuMs, since } from '../support/cpu-time.ts';
import { timed, useFastClock } from '../support/fast-clock.ts';
import { askHere, at } from './asking.ts';

/** One game of every protocol. */
const GAMES = [
  ...new Map(listGames().flatMap((game) => (game.notAsked ? [] : [[game.protocol, game]]))).values(),
];

/** Beginnings of real answers, so that the parsers are reached. */
const BEGINNINGS = [
  '',
  '\xff\xff\xff\xffI\x11',
  '\xff\xff\xff\xffA',
  '\xfe\xff\xff\xff\x01\x00\x00\x00\x02\x00',
  '\xff\xff\xff\xffstatusResponse\n',
  '\xff\xff\xff\xffinfoResponse\n',
  '\xff\xff\xff\xffprint\n',
  '\xff\xff\xff\xffn',
  '\xff\xffinfoResponse\0PiNGPoNg',
  'EYE1',
  '\\gamename\\a\\queryid\\1.1\\final\\',
  '\x00\x00\x00\x00\x01',
  '\t\x00\x00\x00\x01',
  '\x80\x00\x00\x00',
  '\x00SAMP',
  'c\x01\x00b',
  '[TS]\r\nOK\r\n',
  'TS3\n\r\n\rerror id=0 msg=ok\n\r',
  '\x00\x00\x00@\x20\x00\x00\x00\xff\xff\xff\xff',
  'HTTP/1.1 200 OK\r\n\r\n',
  '{"__proto__":{"x":1},"players":',
];

const answers = fc
  .tuple(fc.constantFrom(...BEGINNINGS), fc.uint8Array({ maxLength: 1_200 }))
  .map(([beginning, rest]) => Buffer.concat([Buffer.from(beginning, 'latin1'), rest]));

let answer: Buffer = Buffer.alloc(0);
const udp = createSocket('udp4');
const tcp = net.createServer((socket) => {
  socket
    .on('error', () => {})
    .on('data', () => {
      socket.end(answer);
      if (answer.length % 4 === 0) socket.resetAndDestroy();
    });
});
const web = http.createServer((_, response) => {
  response.on('error', () => {}).write(answer);
  if (answer.length % 4 === 1) response.socket?.resetAndDestroy();
  else response.end();
});
const ports: Record<string, number> = {};
const wrong: unknown[] = [];
const onWrong = (error: unknown) => wrong.push(error);

beforeAll(async () => {
  udp.on('message', (_: Buffer, from: RemoteInfo) => {
    udp.send(answer, from.port, from.address);
    if (answer.length % 3 === 0) udp.send(answer.subarray(1), from.port, from.address);
  });
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  ports.udp = udp.address().port;
  ports.tcp = (tcp.address() as AddressInfo).port;
  ports.http = (web.address() as AddressInfo).port;
  process.on('unhandledRejection', onWrong).on('uncaughtException', onWrong);
});

afterAll(() => {
  process.off('unhandledRejection', onWrong).off('uncaughtException', onWrong);
  udp.close();
  tcp.close();
  web.closeAllConnections();
  web.close();
});

/** Queries with every protocol at once. Protocols with a fixed port, such as TeamSpeak's, get ours. */
function askAll(): Promise<Probe[]> {
  const ask = askHere();
  return Promise.all(
    GAMES.map(({ id, protocol }) => {
      const port = ports[transportOf(protocol)] ?? 0;
      return ask({ ...at(port, id), queryPort: port });
    }),
  );
}

describe('Whatever a server sends', () => {
  it('results in a checked answer or a failure, for every protocol, and never crashes the process', async () => {
    expect(GAMES.length).toBeGreaterThan(40);
    useFastClock();
    await fc.assert(
      fc.asyncProperty(answers, async (bytes) => {
        answer = bytes;
        const { result, tookMs } = await timed(askAll());
        for (const probe of result) {
          if (!probe.ok) {
            expect(probe.message).toMatch(/^\S.*\.$/s);
            continue;
          }
          const { onlinePlayers, maxPlayers, latencyMs, motd, version } = probe.answer;
          for (const count of [onlinePlayers, maxPlayers]) {
            expect(count === null || (Number.isInteger(count) && count >= 0 && count <= 2_147_483_647)).toBe(
              true,
            );
          }
          expect(latencyMs).toBeGreaterThanOrEqual(0);
          for (const [text, most] of [[motd, 500] as const, [version, 100] as const]) {
            expect([...text].length).toBeLessThanOrEqual(most);
            expect(text).not.toMatch(/(?!\n)\p{Cc}/u);
            expect(text.isWellFormed()).toBe(true);
          }
        }
        expect(tookMs).toBeLessThan(8_000);
      }),
      { numRuns: 8, endOnFailure: true },
    );
    expect(wrong).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(Object.keys(games)).toHaveLength(listGames().length);
  });

  it.each([
    [
      'counts that loop for ever (Battlefield)',
      'battlefield4',
      Buffer.from('0000004015000000ffffffff020000004f4b000000', 'hex'),
    ],
    [
      'words for a count (Battlefield)',
      'battlefield4',
      battlefieldPacket(['OK', 'A server', '1', '64', 'Conquest', 'MP_001', '0', '1', '999999999999']),
    ],
    [
      'an opened bracket for ever (Mumble)',
      'mgm',
      Buffer.from(
        JSON.stringify({ name: 'a', root: { description: '<'.repeat(200_000), channels: [], users: [] } }),
      ),
    ],
    ['a nest without an end (Minecraft)', 'minecraft', nested()],
  ])('%s does not block the process', async (_, game, bytes) => {
    answer = bytes;
    // In processor time: a busy machine may delay this process, the answer must not.
    let longest = 0;
    let last = process.cpuUsage();
    const look = () => {
      longest = Math.max(longest, since(last));
      last = process.cpuUsage();
    };
    const watch = setInterval(look, 5);
    const port = ports.tcp ?? 0;
    await askHere()({ ...at(port, game), queryPort: port });
    clearInterval(watch);
    look();
    expect(longest).toBeLessThan(1_000);
  });
});

/** Readers of our own: bytes that begin as a real answer and go on as they like. */
const PLAIN = textFormatOf({ id: 'css', protocol: 'valve' });
const READERS: [name: string, beginning: string, read: (bytes: Buffer) => unknown][] = [
  ['a status of Quake', '\xff\xff\xff\xffstatusResponse\n\\hostname\\', (bytes) => quakeOf(bytes)],
  ['rules of SA-MP', '\x02\x00\x07version', (bytes) => readRules(bytes, PLAIN)],
  ['an info of SA-MP', '\x00\x05\x00\x32\x00\xff\xff\xff\xff', (bytes) => readInfo(bytes, PLAIN, false)],
  ['a reply of TeamSpeak', 'TS3\n\rerror id=', (bytes) => readTeamSpeakReply(bytes, PLAIN, TEAMSPEAK3.end)],
  ['a reply of TeamSpeak 2', '[TS]\r\nERROR, ', (bytes) => readTeamSpeakReply(bytes, PLAIN, TEAMSPEAK2.end)],
  ['an info of FiveM', '{"server":"v1.', (bytes) => fivemVersion({ server: bytes.toString('latin1') })],
];

function quakeOf(bytes: Buffer) {
  const status = readQuakeStatus(bytes, 'statusResponse\n');
  return status && statusSaid(status, PLAIN, notABot(1));
}

describe('Our own readers', () => {
  /** Pieces of which the formats consist, so that loops and look-aheads are reached. */
  const pieces = fc.oneof(
    fc.constantFrom(
      '\\',
      '\n',
      '\r\n',
      '\0',
      '|',
      '=',
      ' ',
      '^',
      '^x',
      '<color=',
      '<',
      '>',
      'error id=',
      '"',
      'OK',
      '\xff',
    ),
    fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  );
  const bodies = fc.array(pieces, { maxLength: 60 }).map((all) => Buffer.from(all.join(''), 'latin1'));

  it.each(READERS)('read any bytes after the beginning of %s', (_, beginning, read) => {
    fc.assert(
      fc.property(bodies, fc.boolean(), (body, begins) => {
        read(begins ? Buffer.concat([Buffer.from(beginning, 'latin1'), body]) : body);
      }),
      { numRuns: 100 },
    );
  });

  const games = listGames().filter(({ notAsked }) => !notAsked);

  it('give a checked answer for any name of any game', () => {
    fc.assert(
      fc.property(bodies, fc.constantFrom(...games), (body, game) => {
        const name = decodeText(body, textFormatOf(game));
        const said = { name, version: name, players: name, maxPlayers: [name] };
        const { motd, version } = readServerAnswer(said, game, 0);
        expect(motd).not.toMatch(/(?!\n)\p{Cc}/u);
        expect([motd.isWellFormed(), version.isWellFormed()]).toEqual([true, true]);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    '^',
    '^^',
    '<b ',
    '<color=',
    '\\',
    '\n',
    '\\a',
    '|a=b ',
    'error id=1',
    // Behind the beginning of a result, the digits of its number.
    '1',
    '\xd0',
    '"1 2',
  ])('take time in proportion to the bytes (%j)', (piece) => {
    const cost = (bytes: number) => {
      const body = Buffer.from(piece.repeat(bytes / piece.length), 'latin1');
      return cpuMs(() => {
        for (const [, beginning, read] of READERS) {
          read(Buffer.concat([Buffer.from(beginning, 'latin1'), body]));
        }
        for (const game of ['rust', 'xonotic', 'teamspeak3', 'samp', 'fivem'].map(gameOf)) {
          const format = textFormatOf(game);
          format.shown(decodeText(body, format));
        }
      });
    };
    cost(10_000);
    // Ten times the bytes take ten times as long, not a hundred times; the constant is for short measurements.
    expect(cost(200_000)).toBeLessThan(40 * cost(20_000) + 50);
  });
});

/** A status whose description is thirty thousand nested lists. */
function nested(): Buffer {
  const depth = 30_000;
  const json = `{"players":{"online":1,"max":2},"description":${'['.repeat(depth)}"a"${']'.repeat(depth)}}`;
  const varInt = (value: number) =>
    Buffer.from([(value & 0x7f) | 0x80, ((value >> 7) & 0x7f) | 0x80, value >> 14]);
  const body = Buffer.concat([Buffer.from([0]), varInt(json.length), Buffer.from(json)]);
  return Buffer.concat([varInt(body.length), body]);
}
