import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { statusPacket } from '../../../src/demo/game-server.ts';
import { legacyText } from '../../../src/probing/minecraft-text.ts';
import { readA2sReply } from '../../../src/probing/protocols/a2s.ts';
import { joinSplits } from '../../../src/probing/protocols/a2s-splits.ts';
import { readPong } from '../../../src/probing/protocols/bedrock.ts';
import { readMinecraftStatus } from '../../../src/probing/protocols/minecraft-java.ts';
import { readKick } from '../../../src/probing/protocols/minecraft-legacy.ts';
import { QueryError } from '../../../src/probing/query-error.ts';
import { countOf, type UncheckedAnswer } from '../../../src/probing/read-answer.ts';
import { infoReply } from '../../support/a2s-replies.ts';
import { pongOf } from '../../support/bedrock-pong.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { kickPacket } from '../../support/fake-game-servers.ts';

const text = (bytes: Buffer) => bytes.toString();

/** Joins datagrams that each begin with their length as two bytes. */
function readDatagrams(bytes: Buffer): UncheckedAnswer | undefined {
  const join = joinSplits();
  for (let at = 0; at + 2 <= bytes.length; ) {
    const end = at + 2 + bytes.readUInt16BE(at);
    const joined = join(bytes.subarray(at + 2, end));
    const reply = joined && readA2sReply(joined, text);
    if (reply && 'said' in reply) return reply.said;
    at = end;
  }
  return undefined;
}

const split = (number: number, part: string) => {
  const datagram = Buffer.concat([Buffer.from(`feffffff01000000${part}`, 'hex')]);
  datagram[9] = number;
  return Buffer.concat([Buffer.from([0, datagram.length]), datagram]);
};

type Parser = {
  read: (bytes: Buffer) => UncheckedAnswer | undefined;
  real: Buffer[];
  large: (size: number) => Buffer;
};

/** Each parser with real answers to change, and an answer of a size that is hard to read. */
const PARSERS: Record<string, Parser> = {
  'a status': {
    read: readMinecraftStatus,
    real: [
      statusPacket({ players: { online: 3, max: 20 }, description: ['A', { translate: '%s', with: [1] }] }),
    ],
    large: (size) => statusPacket({ description: Array.from({ length: size / 10 }, () => ({ a: 'b' })) }),
  },
  'a kick': {
    read: (bytes) => readKick(bytes)?.said,
    real: [kickPacket('§1\x0078\x001.6.4\0Room\x004\x0020'), kickPacket('A room§4§20')],
    large: (size) => kickPacket('§'.repeat(Math.min(size / 2, 65_535))),
  },
  'a pong': {
    read: readPong,
    real: [pongOf('MCPE;EU\\; EGGWARS;766;1.21.50;42;200;1;Level;Survival;1;19132;19133;')],
    large: (size) => pongOf('\\;'.repeat(Math.min(size, 65_000) / 2)),
  },
  'a Source answer': {
    read: (bytes) => {
      const reply = readA2sReply(bytes, text);
      return reply && 'said' in reply ? reply.said : undefined;
    },
    real: [
      infoReply({ edf: 0xf1, keywords: 'mp500,cp312', appId: 252_490 }),
      Buffer.from('ffffffff4101020304', 'hex'),
    ],
    large: (size) => infoReply({ edf: 0x21, appId: 252_490, keywords: ',cp1'.repeat(size / 4) }),
  },
  'split datagrams': {
    read: readDatagrams,
    real: [Buffer.concat([split(0, '0200e004ffffffff49110041'), split(1, '0201e0040042004300010003180000')])],
    large: (size) =>
      Buffer.concat(Array.from({ length: size / 16 }, (_, n) => split(n % 256, 'ff00e004ffffffff'))),
  },
};

/** Real answers with changed, cut and inserted bytes, and arbitrary bytes. */
const hostile = (real: Buffer[]) =>
  fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc
      .tuple(
        fc.constantFrom(...real),
        fc.array(fc.tuple(fc.nat(400), fc.constantFrom(0, 1, 0x3b, 0x5c, 0x7f, 0x80, 0xfe, 0xff)), {
          maxLength: 6,
        }),
        fc.nat(400),
        fc.uint8Array({ maxLength: 40 }),
      )
      .map(([answer, changes, cut, rest]) => {
        const changed = Buffer.from(answer);
        for (const [at, byte] of changes) changed[at % changed.length] = byte;
        return Buffer.concat([changed.subarray(0, cut % 3 === 0 ? cut : undefined), rest]);
      }),
  );

describe.each(Object.entries(PARSERS))('Whatever bytes come for %s', (_, { read, real, large }) => {
  it('they are read, refused with a typed error, or not yet complete', () => {
    fc.assert(
      fc.property(hostile(real), (bytes) => {
        let said: UncheckedAnswer | undefined;
        try {
          said = read(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(QueryError);
        }
        if (!said) return;
        for (const count of [countOf(said.players), countOf(said.maxPlayers)]) {
          expect(count === null || (Number.isInteger(count) && count >= 0)).toBe(true);
        }
      }),
      { numRuns: 100, seed: 41 },
    );
  });

  it('reading takes time in proportion to their length', () => {
    const [short, long] = [large(12_800), large(51_200)];
    const quietly = (bytes: Buffer) => {
      try {
        return read(bytes);
      } catch {
        return undefined;
      }
    };
    // The runs before warm up. An answer of four times the length may take eight times as long, and a moment.
    for (let turn = 0; turn < 5; turn += 1) quietly(long);
    const once = Math.min(...[1, 2, 3].map(() => cpuMs(() => quietly(short))));
    const fourfold = Math.min(...[1, 2, 3].map(() => cpuMs(() => quietly(long))));
    expect(fourfold).toBeLessThan(8 * once + 5);
  });
});

it('Whatever a description is, its text is bounded', () => {
  const component = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.record(
        {
          text: tie('any'),
          translate: fc.constantFrom('%s%s', '%1$s%1$s', '%%', '%', 'key'),
          fallback: fc.constantFrom('%2$s', 'x%s', null),
          with: fc.oneof(fc.array(tie('any'), { maxLength: 3 }), fc.string()),
          extra: tie('any'),
          color: fc.constantFrom('red', '#12ab34', 7, null),
          bold: fc.constantFrom(true, 'false', null),
        },
        { requiredKeys: [] },
      ),
    ),
  })).any;
  fc.assert(
    fc.property(component, (description) => {
      expect(legacyText(description).length).toBeLessThanOrEqual(8_100);
    }),
    { numRuns: 100, seed: 41 },
  );
});
