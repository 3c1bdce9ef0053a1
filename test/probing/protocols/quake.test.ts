import { describe, expect, it } from 'vitest';
import { QuakeServer } from '../../support/fake-quake-server.ts';
import { useFastClock } from '../../support/fast-clock.ts';
import { answerOf, askHere, at, started } from '../asking.ts';

const SARGE = '12 0 "Sarge"';
const MAJOR = '3 0 "Major"';
/** A person whose way to the server takes less than a millisecond. */
const ADA = '7 0 "Ada"';
const BOB = '0 48 "Bob"';
const CY = '-2 999 "Cy connects"';

async function serverWith(clients: string[], set: Partial<QuakeServer> = {}): Promise<QuakeServer> {
  return started(Object.assign(new QuakeServer(), { clients, ...set }));
}

/** An info as ioquake3 sends it. */
const infoOf = (clients: number, people: number) => ({
  hostname: 'A',
  clients: String(clients),
  g_humanplayers: String(people),
  sv_maxclients: '16',
});

describe('A Quake 3 server with clients of ping 0', () => {
  it.each([
    ['a person at the server and a bot', [SARGE, ADA], infoOf(2, 1), 1],
    ['only bots', [SARGE, MAJOR], infoOf(2, 0), 0],
    ['people near and far, and bots', [SARGE, ADA, BOB, MAJOR, CY], infoOf(5, 3), 3],
    // `SVC_Info` does not count the clients on reserved slots.
    ['people on reserved slots', [BOB, CY, SARGE], infoOf(1, 0), 2],
    ['more people in its info than lines that fitted', [SARGE, BOB], infoOf(40, 39), 39],
  ])('(%s) asks for the number of people', async (_, clients, info, onlinePlayers) => {
    const server = await serverWith(clients, { info });
    expect(answerOf(await askHere()(at(server.port, 'openarena')))).toMatchObject({ onlinePlayers });
    expect(server.questions).toEqual(['getstatus', 'getinfo']);
  });

  it.each([
    ['does not count people (Quake 3 1.32)', { hostname: 'A', clients: '3', sv_maxclients: '16' }],
    ['counts them oddly', { ...infoOf(3, 0), g_humanplayers: 'many' }],
    ['is not sent', undefined],
  ])('whose info %s takes them for bots', async (_, info) => {
    const server = await serverWith([SARGE, BOB, MAJOR], info ? { info } : {});
    useFastClock();
    expect(answerOf(await askHere()(at(server.port, 'q3a')))).toMatchObject({ onlinePlayers: 1 });
  });
});

it('A Quake 3 server whose clients all have a ping is asked once', async () => {
  const server = await serverWith([BOB, CY], { info: infoOf(2, 2) });
  expect(answerOf(await askHere()(at(server.port, 'q3a')))).toMatchObject({ onlinePlayers: 2 });
  expect(server.questions).toEqual(['getstatus']);
});

describe('A server of an earlier Quake', () => {
  const QUAKE2 = { question: 'status', answer: 'print\n' };
  it.each([
    // Only people are clients of id's server; one on its network has no ping.
    ['quake2', QUAKE2, ['10 23 "Ann"', '-1 0 "Ben"', '0 0 "Cy connects"'], 3],
    // CodeRED lists its bots behind the people.
    ['alienarena', QUAKE2, ['5 31 "Ann" "127.0.0.1" 0', '2 0 "Cyborg" "127.0.0.1" 0'], 1],
    [
      'quake',
      { question: 'status', answer: 'n' },
      ['12 5 7 25 "Ada" "base" 4 4', '13 0 1 0 "Bot" "" 0 13'],
      1,
    ],
  ])('(%s) counts its people', async (game, dialect, clients, onlinePlayers) => {
    const server = await serverWith(clients, { dialect });
    expect(answerOf(await askHere()(at(server.port, game)))).toMatchObject({ onlinePlayers });
    expect(server.questions).toEqual(['status']);
  });
});
