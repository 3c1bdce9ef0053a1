import { describe, expect, it } from 'vitest';
import { statusPacket } from '../../../src/demo/game-server.ts';
import { readMinecraftStatus, statusRequest } from '../../../src/probing/protocols/minecraft-java.ts';
import { legacyPings, readKick } from '../../../src/probing/protocols/minecraft-legacy.ts';
import { kickPacket } from '../../support/fake-game-servers.ts';

const STATUS = { version: { name: '1.21' }, players: { online: 3, max: 20 }, description: { text: 'Hi' } };

/** A status with this number of players, and lines of advertising in place of their names. */
const advertising = (online: unknown, lines: number) => ({
  ...STATUS,
  players: {
    online,
    max: 500,
    sample: Array.from({ length: lines }, () => ({ name: '§eVote at a.example', id: '' })),
  },
});

describe('A status of Minecraft Java', () => {
  it.each([
    ['all parts', STATUS, { name: 'Hi', version: '1.21', players: 3, maxPlayers: 20 }],
    [
      'hidden players',
      { version: { name: '1.21' }, description: { text: 'x' } },
      { players: undefined, name: 'x' },
    ],
    ['empty players', { ...STATUS, players: {} }, { players: undefined, maxPlayers: undefined }],
    ['null as players', { ...STATUS, players: null }, { players: undefined }],
    ['a word as players', { ...STATUS, players: 'many' }, { players: undefined }],
    ['a list as players', { ...STATUS, players: ['Ann'] }, { players: undefined }],
    [
      'adverts',
      {
        ...STATUS,
        players: {
          online: 0,
          max: 9,
          sample: [
            { name: '§aBuy!', id: '' },
            { name: 'now', id: '' },
          ],
        },
      },
      { players: 0 },
    ],
    ['two players and twelve adverts', advertising(2, 12), { players: 2 }],
    ['no players, as text, and an advert', advertising('0', 1), { players: '0' }],
    ['−1 players and three adverts', advertising(-1, 3), { players: -1 }],
    ['more players than names', advertising(412, 12), { players: 412 }],
    ['adverts and no number', { ...STATUS, players: { sample: [{ name: 'Buy!' }] } }, { players: undefined }],
    ['only a message', { description: 'x' }, { name: 'x', version: undefined }],
    ['no message', { players: { online: 0, max: 0 } }, { name: '', players: 0 }],
    ['a version that is no object', { ...STATUS, version: '1.21' }, { version: undefined, players: 3 }],
    ['a message that is a list', { ...STATUS, description: ['A', { text: 'B' }] }, { name: 'AB' }],
    ['an own `__proto__`', JSON.parse('{"__proto__":{"x":1},"players":{"online":1}}'), { players: 1 }],
  ])('with %s is read', (_, status, said) => {
    expect(readMinecraftStatus(statusPacket(status))).toMatchObject(said);
  });

  it('is complete with its last byte, and what follows it is not read', () => {
    const packet = statusPacket({ ...STATUS, description: 'é💎'.repeat(100) });
    for (let length = 0; length < packet.length; length += 1) {
      expect(readMinecraftStatus(packet.subarray(0, length))).toBeUndefined();
    }
    expect(readMinecraftStatus(Buffer.concat([packet, Buffer.from('more')]))).toMatchObject({ players: 3 });
  });

  it('may be followed by data of mods in the same packet', () => {
    const json = Buffer.from(JSON.stringify(STATUS));
    const body = Buffer.concat([Buffer.from([0, json.length]), json, Buffer.from('\x02{}')]);
    expect(readMinecraftStatus(Buffer.concat([Buffer.from([body.length]), body]))).toMatchObject({
      players: 3,
    });
  });

  it.each([
    ['zeros', Buffer.alloc(64)],
    ['a length of more than five bytes', Buffer.alloc(64, 0x80)],
    ['a negative length', Buffer.from('ffffffff0f00', 'hex')],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request')],
    ['another packet', Buffer.from('0201', 'hex')],
    ['a packet without a text', Buffer.from('0100', 'hex')],
    ['a text longer than the packet', Buffer.from('03000561', 'hex')],
    ['no JSON', Buffer.from('0400027b7b', 'hex')],
    ['a list', statusPacket([STATUS])],
    ['another object', statusPacket({ error: 'no' })],
    ['null', statusPacket(null)],
  ])('is not %s', (_, bytes) => {
    expect(() => readMinecraftStatus(bytes)).toThrow(expect.objectContaining({ code: 'answer-broken' }));
  });

  it('is not longer than 256 KiB, which its first bytes say', () => {
    expect(() => readMinecraftStatus(Buffer.from([0x81, 0x80, 0x10]))).toThrow(
      expect.objectContaining({ code: 'answer-too-long' }),
    );
  });
});

describe('The requests', () => {
  it('are those of the documentation', () => {
    expect(statusRequest('mc.example', 25_565).toString('hex')).toBe(
      `10002f0a${Buffer.from('mc.example').toString('hex')}63dd010100`,
    );
    const utf16 = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex');
    const name = utf16('localhost');
    expect(legacyPings('localhost', 25_565).map((ping) => ping.toString('hex'))).toEqual([
      `fe01fa000b${utf16('MC|PingHost')}00194e0009${name}000063dd`,
      'fe01',
      'fe',
    ]);
  });
});

describe('A kick packet', () => {
  it('is complete with its last byte', () => {
    const packet = kickPacket('§1\x0078\x001.6.4\0Räum 💎\x004\x0020');
    for (let length = 0; length < packet.length; length += 1) {
      expect(readKick(packet.subarray(0, length))).toBeUndefined();
    }
    expect(readKick(packet)).toEqual({
      said: { name: 'Räum 💎', version: '1.6.4', players: '4', maxPlayers: '20' },
      isModern: false,
    });
  });

  it('with a protocol after 1.6.4 is of a modern server', () => {
    expect(readKick(kickPacket('§1\x00127\x001.21\0Hi\x004\x0020'))).toMatchObject({ isModern: true });
  });
});
