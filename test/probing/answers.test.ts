import { describe, expect, it } from 'vitest';
import { statusPacket } from '../../src/demo/game-server.ts';
import { infoReply } from '../support/a2s-replies.ts';
import { BedrockServer, JavaServer, SAID, SourceServer } from '../support/fake-game-servers.ts';
import { QuakeServer } from '../support/fake-quake-server.ts';
import { timed, useFastClock } from '../support/fast-clock.ts';
import { answerOf, askHere, at, failureOf, started } from './asking.ts';

const ask = askHere();

const KINDS = [
  ['minecraft', JavaServer],
  ['mbe', BedrockServer],
  ['teamfortress2', SourceServer],
  ['q3a', QuakeServer],
] as const;

const UDP_KINDS = KINDS.filter(([game]) => game !== 'minecraft');

it.each([
  ['§4● Offline', '§7This server is offline.', true],
  ['Sleeping', 'Join to wake it', true],
  ['● Starting', '', true],
  ['● Waiting in queue', '', true],
  ['Paper 1.21', 'Preparing for the season', false],
  ['Paper 1.21', 'The server is currently starting up, please wait', true],
  ['Paper 1.21', 'Offline mode survival', false],
  ['Paper 1.21', 'Starting from scratch', false],
])('a host that says “%s”, “%s” and 0 of 0 has stopped its server: %s', async (name, text, isStopped) => {
  const server = await started(new JavaServer());
  const answer = (online: number, max: number) => {
    server.status = { version: { name }, players: { online, max }, description: { text } };
    return ask(at(server.port, 'minecraft'));
  };
  const stopped = await answer(0, 0);
  if (isStopped) expect(failureOf(stopped)).toBe('host-says-stopped');
  else expect(answerOf(stopped)).toMatchObject({ onlinePlayers: 0 });
  expect(answerOf(await answer(0, 20))).toMatchObject({ maxPlayers: 20 });
});

it('a host that wakes its server by a join has stopped it, though it tells its places', async () => {
  const server = await started(new JavaServer());
  const answer = (text: string) => {
    server.status = { version: { name: '1.20.3' }, players: { online: 0, max: 20 }, description: { text } };
    return ask(at(server.port, 'minecraft'));
  };
  for (const text of [
    '☠ Server is sleeping\n§2☻ Join to start it up',
    '§2☻ Server is starting...\n§7⌛ Please wait...',
  ])
    expect(failureOf(await answer(text))).toBe('host-says-stopped');
  expect(answerOf(await answer('Server is starting a new season'))).toMatchObject({ maxPlayers: 20 });
});

describe.each(KINDS)('A server of %s', (game, Kind) => {
  it('is queried once and returns its players, limit, message and version', async () => {
    const server = await started(new Kind());
    const { latencyMs, ...said } = answerOf(await ask(at(server.port, game)));
    expect(said).toEqual({
      onlinePlayers: SAID.online,
      maxPlayers: SAID.max,
      motd: SAID.motd,
      version: SAID.version,
    });
    expect(latencyMs).toBeGreaterThan(0);
    expect(latencyMs).toBe(Math.round(latencyMs * 100) / 100);
  });

  it('without players reports none', async () => {
    const server = await started(new Kind());
    server.said = { ...SAID, online: 0 };
    expect(answerOf(await ask(at(server.port, game))).onlinePlayers).toBe(0);
  });

  it('that is gone refuses the connection at once', async () => {
    const server = new Kind();
    await server.start();
    await server.stop();
    useFastClock();
    const { result: probe, tookMs } = await timed(ask(at(server.port, game)));
    expect(probe).toEqual({
      ok: false,
      failure: 'connection-refused',
      message: `Nothing listens on 127.0.0.1:${server.port}.`,
    });
    // It waits for no timer: the shortest one runs for 1 s, which is 50 steps of this clock.
    expect(tookMs).toBeLessThan(1_000);
  });

  it('that does not answer is given up in time', async () => {
    const server = await started(new Kind());
    server.manner = { silent: true };
    useFastClock();
    const { result, tookMs } = await timed(ask(at(server.port, game)));
    expect(failureOf(result)).toBe('no-answer');
    expect(tookMs).toBeLessThanOrEqual(5_100);
    expect(server.asked).toBeGreaterThan(0);
  });

  it('that answers garbage counts as a broken answer', async () => {
    const garbage = [
      Buffer.from('Hello, who are you? '.repeat(20)),
      Buffer.alloc(64, 0x80),
      Buffer.alloc(64, 0xff),
    ];
    useFastClock();
    const faults = garbage.map(async (answer) => {
      const server = await started(new Kind());
      server.manner = { answer };
      return failureOf(await ask(at(server.port, game)));
    });
    expect(await Promise.all(faults)).toEqual(Array(garbage.length).fill('answer-broken'));
  });
});

describe.each(UDP_KINDS)('A server of %s over UDP', (game, Kind) => {
  it('is queried again when a datagram is lost', async () => {
    const server = await started(new Kind());
    server.manner = { silent: true };
    useFastClock();
    const probe = ask(at(server.port, game));
    await expect.poll(() => server.asked).toBe(1);
    server.manner = {};
    expect(answerOf(await probe).motd).toBe(SAID.motd);
  });

  it('that sends too much data is disconnected', async () => {
    const server = await started(new Kind());
    server.manner = { answer: Buffer.alloc(300_000, 'x') };
    expect(failureOf(await ask(at(server.port, game)))).toBe('answer-too-long');
  });
});

describe('A Minecraft server', () => {
  it.each([1, 2, 4, 100])('whose last %i bytes come in a late segment is understood', async (lateBytes) => {
    const server = await started(new JavaServer());
    server.manner = { lateSegmentMs: 150, lateBytes };
    expect(answerOf(await ask(at(server.port, 'minecraft'))).onlinePlayers).toBe(SAID.online);
  });

  it('that sends one byte at a time is understood', async () => {
    const server = await started(new JavaServer());
    server.manner = { dripMs: 2 };
    expect(answerOf(await ask(at(server.port, 'minecraft'))).motd).toBe(SAID.motd);
  });

  it('that sends byte by byte is given up after five seconds', async () => {
    const server = await started(new JavaServer());
    server.manner = { answer: statusPacket({ description: 'x'.repeat(10_000) }), dripMs: 20 };
    useFastClock();
    const { result, tookMs } = await timed(ask(at(server.port, 'minecraft')));
    expect(failureOf(result)).toBe('no-answer');
    expect(tookMs).toBeGreaterThanOrEqual(4_900);
    expect(tookMs).toBeLessThanOrEqual(5_100);
    await expect.poll(() => server.open).toBe(0);
  });

  it.each([0, 20])('that closes after %i bytes has not answered', async (closeAfter) => {
    const server = await started(new JavaServer());
    server.manner = { closeAfter };
    expect(failureOf(await ask(at(server.port, 'minecraft')))).toBe('closed');
  });

  it.each([
    ['no part of a status', { players_online: 3 }],
    ['a list', []],
    ['nothing', null],
  ])('with %s counts as a broken answer', async (_, status) => {
    const server = await started(new JavaServer());
    server.manner = { answer: statusPacket(status) };
    expect(failureOf(await ask(at(server.port, 'minecraft')))).toBe('answer-broken');
  });

  it.each([
    [{}, null, null],
    [{ online: 1, max: 2_147_483_648 }, 1, 2_147_483_647],
    [{ online: 1e300, max: -1e300 }, 2_147_483_647, 0],
    [{ online: 1.5, max: '10.9' }, 1, 10],
    [{ online: -2, max: ' 10 ' }, 0, 10],
    [{ online: 'many', max: 10 }, null, 10],
    [{ online: 4, max: null }, 4, null],
    [{ online: [3], max: true }, null, null],
    [{ online: '-1', max: -1 }, 0, 0],
    [{ online: '', max: '9'.repeat(400) }, null, null],
  ])('that says %j has its counts read, and what is no number is unknown', async (players, onlinePlayers, maxPlayers) => {
    const server = await started(new JavaServer());
    server.status = { description: 'Hi', players };
    expect(answerOf(await ask(at(server.port, 'minecraft')))).toMatchObject({ onlinePlayers, maxPlayers });
  });

  it('without a limit of players has the limit 0', async () => {
    const server = await started(new JavaServer());
    server.status = { description: 'Hi', players: { online: '7', max: -1 } };
    expect(answerOf(await ask(at(server.port, 'minecraft')))).toMatchObject({
      onlinePlayers: 7,
      maxPlayers: 0,
      version: '',
    });
  });

  it('that sends more than any real server is disconnected', async () => {
    const server = await started(new JavaServer());
    server.status = { description: 'x'.repeat(300_000), players: { online: 1, max: 2 } };
    expect(failureOf(await ask(at(server.port, 'minecraft')))).toBe('answer-too-long');
    await expect.poll(() => server.open).toBe(0);
  });

  it('has its message and version cut to the limits of a report', async () => {
    const server = await started(new JavaServer());
    const lone = String.fromCharCode(0xd800);
    server.status = {
      description: { text: `§a\u0007One\r\nTwo ${lone}`, extra: ['💎'.repeat(600)] },
      version: { name: `Paper ${'9'.repeat(200)}` },
      players: { online: 1, max: 2 },
    };
    const { motd, version } = answerOf(await ask(at(server.port, 'minecraft')));
    expect(motd).toMatch(/^§aOne\nTwo \ufffd💎+$/u);
    expect([...motd]).toHaveLength(500);
    expect(version).toBe(`Paper ${'9'.repeat(94)}`);
  });

  it('receives the host name that players use', async () => {
    const server = await started(new JavaServer());
    const asking = askHere({ lookup: async () => [{ address: '127.0.0.1' }] });
    answerOf(await asking(at(server.port, 'minecraft', 'play.example.org')));
    expect(server.handshakes).toEqual(['play.example.org']);
  });
});

/** An answer to `info` compressed with bzip2, as by servers of 2006: a small one may unpack to gigabytes. */
const PACKED =
  'feffffff010000800100e0042d00000006c8495c425a6839314159265359f723d009000016ff88e80024004001' +
  '6000202004002f0fc40000400000a00022a7a991b534f486f547a9ea7ea850000064c8a821443a94b619c01ae1' +
  '65bb3799d21e0fdcad499a4e51927e2ee48a70a121ee47a012';

describe('A Source server', () => {
  it('is queried only for its info, with its challenge', async () => {
    const server = await started(new SourceServer());
    answerOf(await ask(at(server.port, 'teamfortress2')));
    expect(server.questions).toEqual(['challenge', 'info']);
  });

  it.each([0, 2, 4])('that wants %i challenges is answered', async (challenges) => {
    const server = await started(new SourceServer());
    server.challenges = challenges;
    expect(answerOf(await ask(at(server.port, 'teamfortress2'))).motd).toBe(SAID.motd);
    expect(server.questions).toEqual([...Array(challenges).fill('challenge'), 'info']);
  });

  it('that sends only challenges is given up', async () => {
    const server = await started(new SourceServer());
    server.challenges = 1_000;
    expect(failureOf(await ask(at(server.port, 'teamfortress2')))).toBe('answer-broken');
    expect(server.questions).toHaveLength(6);
  });

  it('whose answer comes in parts, with other datagrams between them, is understood', async () => {
    const server = await started(new SourceServer());
    const whole = infoReply({ name: 'In parts', players: 9, bots: 4 });
    const [first, second] = [whole.subarray(0, 30), whole.subarray(30)].map((part, number) =>
      Buffer.concat([Buffer.from([0xfe, 0xff, 0xff, 0xff, 7, 0, 0, 0, 2, number, 0xe0, 4]), part]),
    ) as [Buffer, Buffer];
    const others = [Buffer.alloc(64), Buffer.from('ffffffff4400', 'hex')];
    server.info = [second, ...others, second, first];
    const answer = answerOf(await ask(at(server.port, 'teamfortress2')));
    expect(answer).toMatchObject({ motd: 'In parts', onlinePlayers: 5 });
  });

  it('whose name is not UTF-8 is shown in its own encoding', async () => {
    const server = await started(new SourceServer());
    const [start, end] = infoReply({ name: '#' }).toString('latin1').split('#');
    server.info = [Buffer.from(`${start}Caf\xe9 der Gl\xfccklichen${end}`, 'latin1')];
    expect(answerOf(await ask(at(server.port, 'teamfortress2'))).motd).toBe('Café der Glücklichen');
  });

  it('that sends a packed reply is not unpacked', async () => {
    const server = await started(new SourceServer());
    server.manner = { answer: Buffer.from(PACKED, 'hex') };
    useFastClock();
    expect(failureOf(await ask(at(server.port, 'teamfortress2')))).toBe('answer-broken');
  });
});

describe('A server of another game', () => {
  it('is not recognized by a header alone (OpenArena)', async () => {
    const server = await started(new QuakeServer());
    server.manner = { answer: Buffer.from('\xff\xff\xff\xffstatusResponse\n', 'latin1') };
    useFastClock();
    expect(failureOf(await ask(at(server.port, 'openarena')))).toBe('answer-broken');
  });

  it.each([0x00, 0x05, 0xff])('is not recognized by 64 bytes of %i (Mumble)', async (byte) => {
    const server = await started(new QuakeServer());
    server.manner = { answer: Buffer.alloc(64, byte) };
    useFastClock();
    expect(failureOf(await ask(at(server.port, 'mumble')))).toBe('answer-broken');
  });

  it.each([
    's2ats',
    'rfactor',
    'armagetronadvanced',
  ])('is not recognized by arbitrary words (%s)', async (game) => {
    const server = await started(new QuakeServer());
    server.manner = { answer: Buffer.from('Hello, who are you?') };
    useFastClock();
    expect(failureOf(await ask(at(server.port, game)))).toBe('answer-broken');
  });

  it('is not queried when the game is not in the list', async () => {
    expect(await ask(at(1, 'no-such-game'))).toMatchObject({ ok: false, failure: 'game-unknown' });
  });
});
