import { describe, expect, it } from 'vitest';
import { statusPacket } from '../../src/demo/game-server.ts';
import { JavaServer, kickPacket, OldJavaServer, SAID } from '../support/fake-game-servers.ts';
import { timed, useFastClock } from '../support/fast-clock.ts';
import { answerOf, askHere, at, failureOf, started } from './asking.ts';

const FIGURES = { onlinePlayers: SAID.online, maxPlayers: SAID.max, motd: SAID.motd };

async function startOld(set: Partial<OldJavaServer> = {}): Promise<OldJavaServer> {
  return started(Object.assign(new OldJavaServer(), set));
}

describe('A Minecraft server from before 1.7', () => {
  const eras = ['1.6', '1.4', 'beta'] as const;
  const refusals = ['waits', 'closes', 'kicks'] as const;

  it.each(
    eras.flatMap((era) => refusals.map((refusal) => [era, refusal] as const)),
  )('(%s) that %s after a status request is online with its figures', async (era, refusal) => {
    const server = await startOld({ era, refusal });
    server.said = { ...SAID, version: era === 'beta' ? '' : era };
    useFastClock();
    const answer = answerOf(await askHere()(at(server.port, 'minecraft')));
    expect(answer).toMatchObject({ ...FIGURES, version: server.said.version });
  });

  it('is asked by the list ping at once from then on, over a single connection', async () => {
    const server = await startOld();
    const ask = askHere();
    useFastClock();
    answerOf(await ask(at(server.port, 'minecraft')));
    server.requests.length = 0;
    answerOf(await ask(at(server.port, 'minecraft')));
    expect(server.requests).toEqual(['fe01fa']);
  });

  it('that refuses a second connection for 4 seconds is online at the next check', async () => {
    const server = await startOld({ refusal: 'kicks', throttleMs: 4_000 });
    const ask = askHere();
    useFastClock();
    expect(failureOf(await ask(at(server.port, 'minecraft')))).toBe('answer-broken');
    await new Promise((resolve) => setTimeout(resolve, 4_100));
    expect(answerOf(await ask(at(server.port, 'minecraft')))).toMatchObject(FIGURES);
  });

  it.each([
    ['§1\0\x36\0\0A §cred§r room\0\x37\0\x38', { motd: 'A §cred§r room', onlinePlayers: 7, maxPlayers: 8 }],
    ['§1\x0078\x001.6.4\0Room\0-1\x0099999999999', { onlinePlayers: 0, maxPlayers: 2_147_483_647 }],
    ['§1\x0078\x001.6.4\0Room\0many\x0020', { onlinePlayers: null, maxPlayers: 20, version: '1.6.4' }],
    ['§1\x0078\x001.6.4\0Room', { motd: 'Room', onlinePlayers: null, maxPlayers: null }],
    ['§a§lBeta§r room§3§20', { motd: '§a§lBeta§r room', onlinePlayers: 3, maxPlayers: 20 }],
    ['§0§0', { motd: '', onlinePlayers: 0, maxPlayers: 0 }],
  ])('that answers %j is read', async (text, answer) => {
    const server = await startOld({ text, refusal: 'closes' });
    expect(answerOf(await askHere()(at(server.port, 'minecraft')))).toMatchObject(answer);
  });

  it.each([
    ['Connection throttled! Please wait before reconnecting.'],
    ['§cYou are banned, see §nexample.org§r'],
    ['§1\x0078\x001.6.4'],
    [''],
  ])('that only kicks with %j has not answered', async (text) => {
    const server = await startOld({ text, refusal: 'kicks' });
    useFastClock();
    expect(failureOf(await askHere()(at(server.port, 'minecraft')))).toBe('answer-broken');
  });

  it('that answers everything with its kick is asked once', async () => {
    const server = await started(new JavaServer());
    server.manner = { answer: kickPacket('§1\x0078\x001.6.4\0Room\x004\x0020') };
    expect(answerOf(await askHere()(at(server.port, 'minecraft')))).toMatchObject({ onlinePlayers: 4 });
    expect(server.asked).toBe(1);
  });
});

describe('A modern Minecraft server', () => {
  const status = {
    description: 'Said in full',
    version: { name: 'Paper 1.21' },
    players: { online: 5, max: 9 },
  };

  it.each([
    600, 1_200, 2_500, 4_500,
  ])('whose status comes after %i ms is not taken for an old one', async (ms) => {
    const server = await started(new JavaServer());
    Object.assign(server, { status, statusDelayMs: ms });
    useFastClock();
    const answer = answerOf(await askHere()(at(server.port, 'minecraft')));
    expect(answer).toMatchObject({
      motd: 'Said in full',
      version: 'Paper 1.21',
      onlinePlayers: 5,
      maxPlayers: 9,
    });
    // The status request, and the first list ping, whose answer says that the server is modern.
    expect(server.asked).toBe(2);
  });

  it('whose status never comes counts with its answer to the list ping', async () => {
    const server = await started(new JavaServer());
    server.statusDelayMs = 60_000;
    useFastClock();
    const { result, tookMs } = await timed(askHere()(at(server.port, 'minecraft')));
    expect(answerOf(result)).toMatchObject({ ...FIGURES, version: SAID.version });
    expect(tookMs).toBeLessThanOrEqual(5_100);
  });

  it('that was silent once is asked for its status again', async () => {
    const server = await started(new JavaServer());
    const ask = askHere();
    useFastClock();
    server.manner = { silent: true };
    expect(failureOf(await ask(at(server.port, 'minecraft')))).toBe('no-answer');
    server.manner = {};
    server.status = status;
    expect(answerOf(await ask(at(server.port, 'minecraft')))).toMatchObject({ motd: 'Said in full' });
    server.asked = 0;
    expect(answerOf(await ask(at(server.port, 'minecraft')))).toMatchObject({ motd: 'Said in full' });
    expect(server.asked).toBe(1);
  });

  it('whose status arrives piece by piece gets no list ping', async () => {
    const server = await started(new JavaServer());
    server.manner = { dripMs: 20 };
    useFastClock();
    expect(answerOf(await askHere()(at(server.port, 'minecraft')))).toMatchObject(FIGURES);
    expect(server.asked).toBe(1);
  });

  it.each([
    ['HTTP', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'],
    ['SSH', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['zeros', '\0'.repeat(64)],
    ['a bare header', '\x03\0\x01\x20'],
    ['an array of a status', statusPacket([status]).toString('latin1')],
  ])('is not recognized by %s, and gets no list ping', async (_, bytes) => {
    const server = await started(new JavaServer());
    server.manner = { answer: Buffer.from(bytes, 'latin1') };
    expect(failureOf(await askHere()(at(server.port, 'minecraft')))).toBe('answer-broken');
    expect(server.asked).toBe(1);
  });
});

describe('The list pings', () => {
  it('count against the limit of connections, and a probe without them does not count', async () => {
    const server = await startOld();
    useFastClock();
    let allowed = 1;
    const ask = () => askHere()(at(server.port, 'minecraft'), undefined, async () => allowed-- > 0);
    expect(failureOf(await ask())).toBe('outgoing-limited');
    allowed = 2;
    expect(answerOf(await ask())).toMatchObject(FIGURES);
  });
});
