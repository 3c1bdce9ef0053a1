import { describe, expect, it } from 'vitest';
import { type A2sReply, readA2sReply } from '../../../src/probing/protocols/a2s.ts';
import { joinSplits } from '../../../src/probing/protocols/a2s-splits.ts';
import { infoReply } from '../../support/a2s-replies.ts';

const saidBy = (reply: Buffer) => {
  const read: A2sReply | undefined = readA2sReply(reply, String);
  return read && 'said' in read ? read.said : read;
};

describe('A Source server', () => {
  it.each([
    ['no bots', { players: 10 }, 10, 24],
    ['bots among the players', { players: 10, bots: 4 }, 6, 24],
    ['only bots', { players: 10, bots: 10 }, 0, 24],
    ['more bots than players, which are people then', { players: 3, bots: 12 }, 3, 24],
    ['nobody, and bots', { players: 0, bots: 12 }, 0, 24],
    ['as many as a byte counts', { players: 255, max: 255 }, 255, 255],
  ])('with %s counts its people', (_, counts, players, maxPlayers) => {
    expect(saidBy(infoReply(counts))).toMatchObject({ players, maxPlayers });
  });

  it.each([
    ['all optional fields', { edf: 0xf1, keywords: 'alltalk,nocrits' }],
    ['no optional fields', {}],
    ['a strange type and operating system', { type: 0, os: 0x20 }],
  ])('with %s has its name and version', (_, fields) => {
    expect(saidBy(infoReply({ ...fields, name: 'Ünï 💎', version: '1.2.3' }))).toMatchObject({
      name: 'Ünï 💎',
      version: '1.2.3',
      players: 3,
    });
  });

  it('of The Ship has three more bytes before its version', () => {
    expect(saidBy(infoReply({ appId: 2_400, version: '1.0.0.4' }))).toMatchObject({ version: '1.0.0.4' });
  });

  it.each([
    ['mp500,cp312,qp7,v2570', '312', '500'],
    ['v2570,qp0,cp0,mp1000', '0', '1000'],
    ['modded,cpu12,xcp9,mp50', 3, '50'],
    ['', 3, 24],
  ])('of Rust says more than a byte can count in its keywords: %s', (keywords, players, maxPlayers) => {
    const rust = { edf: 0x21, keywords, appId: 252_490 };
    expect(saidBy(infoReply(rust))).toMatchObject({ players, maxPlayers });
    expect(saidBy(infoReply({ ...rust, appId: 730 }))).toMatchObject({ players: 3, maxPlayers: 24 });
  });

  it.each([
    ['empty,secure', 0],
    ['secure,empty', 0],
    ['not empty,secure', 3],
    ['', 3],
  ])('of Counter-Strike that sleeps counts those who left, and says that it is empty: %s', (keywords, players) => {
    expect(saidBy(infoReply({ edf: 0x21, keywords, appId: 730 }))).toMatchObject({ players });
    expect(saidBy(infoReply({ edf: 0x21, keywords, appId: 440 }))).toMatchObject({ players: 3 });
  });

  it('whose answer is cut off anywhere after the counts is read', () => {
    const whole = infoReply({ edf: 0xf1, keywords: 'a,b', players: 9, bots: 2, version: '1.2.3' });
    const counts = whole.indexOf(Buffer.from([9, 24, 2]));
    for (let length = counts + 3; length <= whole.length; length += 1) {
      expect(saidBy(whole.subarray(0, length))).toMatchObject({ players: 7, maxPlayers: 24 });
    }
    for (let length = 5; length < counts + 2; length += 1) {
      expect(() => saidBy(whole.subarray(0, length))).toThrow(
        expect.objectContaining({ code: 'answer-broken' }),
      );
    }
  });

  it.each([
    ['64 zero bytes', Buffer.alloc(64)],
    ['a header without a type', Buffer.alloc(4, 0xff)],
    ['the answer to another question', Buffer.from('ffffffff4400', 'hex')],
    ['a short challenge', Buffer.from('ffffffff41aabb', 'hex')],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('is not recognized by %s, which is ignored', (_, reply) => {
    expect(readA2sReply(reply, String)).toBeUndefined();
  });

  it.each([
    ['a header alone', 'ffffffff49'],
    ['a header and zeros', `ffffffff49${'00'.repeat(60)}`],
    ['a name without an end', `ffffffff4911${Buffer.from('A name').toString('hex')}`],
  ])('is not recognized by %s', (_, hex) => {
    expect(() => readA2sReply(Buffer.from(hex, 'hex'), String)).toThrow(
      expect.objectContaining({ code: 'answer-broken' }),
    );
  });
});

describe('A Half-Life server from before 2008', () => {
  const texts = '127.0.0.1:27015\0A crossfire\0crossfire\0valve\0Half-Life\0';
  const details = (rest: number[]) =>
    Buffer.concat([Buffer.from('ffffffff6d', 'hex'), Buffer.from(texts), Buffer.from(rest)]);
  const LINUX = [47, 0x64, 0x6c, 0];

  it.each([
    ['no mod', [12, 16, ...LINUX, 0, 1, 5], 7],
    ['a mod', [12, 16, ...LINUX, 1, 0x61, 0, 0x62, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 1, 1, 4], 8],
    ['no end', [12, 16, 47], 12],
  ])('with %s has its people', (_, rest, players) => {
    expect(saidBy(details(rest))).toEqual({ name: 'A crossfire', version: '', players, maxPlayers: 16 });
  });
});

describe('A split answer', () => {
  const whole = infoReply({ name: 'A long name '.repeat(20), players: 5 });

  /** The datagrams of `whole` in one of the three layouts. */
  function split(layout: 'source' | 'source of 2006' | 'half-life', count: number, id = 0x11): Buffer[] {
    const size = Math.ceil(whole.length / count);
    return Array.from({ length: count }, (_, number) => {
      const head = Buffer.from([0xfe, 0xff, 0xff, 0xff, 1, 0, 0, id]);
      const numbers = {
        source: [count, number, 0xe0, 0x04],
        'source of 2006': [count, number],
        'half-life': [(number << 4) | count],
      }[layout];
      return Buffer.concat([head, Buffer.from(numbers), whole.subarray(number * size, (number + 1) * size)]);
    });
  }
  const joinAll = (datagrams: Buffer[]) => {
    const join = joinSplits();
    return datagrams.map(join).find((reply) => reply !== undefined);
  };

  const layouts = ['source', 'source of 2006', 'half-life'] as const;
  it.each(
    layouts.flatMap((layout) => [1, 2, 3, 9].map((count) => [layout, count] as const)),
  )('of %s in %i datagrams is joined, in any order and with repetitions', (layout, count) => {
    // An id of Half-Life may have the bit that means compression in Source.
    const datagrams = split(layout, count, layout === 'half-life' ? 0x91 : 0x11);
    for (const order of [datagrams, datagrams.toReversed(), datagrams.flatMap((one) => [one, one])]) {
      const joined = joinAll(order);
      expect(joined).toEqual(whole);
    }
    expect(saidBy(joinAll(datagrams) ?? Buffer.alloc(0))).toMatchObject({ players: 5 });
  });

  it('is not joined from parts of different answers, or while a part is missing', () => {
    const [first, second] = split('source', 2, 1) as [Buffer, Buffer];
    const [, other] = split('source', 2, 2) as [Buffer, Buffer];
    expect(joinAll([first, other])).toBeUndefined();
    expect(joinAll([first, first])).toBeUndefined();
    expect(joinAll([second, first])).toEqual(whole);
  });

  it('that is compressed is named', () => {
    const packed = Buffer.concat([
      Buffer.from('feffffff010000800100e0042d0000006c8495c4', 'hex'),
      Buffer.from('BZh91AY&SY'),
    ]);
    expect(() => joinAll([packed])).toThrow(/bzip2/);
  });

  it('of very many parts is not kept', () => {
    const join = joinSplits();
    const parts = Array.from({ length: 200 }, (_, number) =>
      Buffer.from([0xfe, 0xff, 0xff, 0xff, number, 0, 0, 0, 200, number, 0, 4, 0xff, 0xff, 0xff, 0xff]),
    );
    expect(parts.map(join).every((reply) => reply === undefined)).toBe(true);
  });
});
