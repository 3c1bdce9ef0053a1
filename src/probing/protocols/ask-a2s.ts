import { decodeText, textFormatOf } from '../../games/text-formats.ts';
import type { OwnProtocol } from '../own-protocol.ts';
import { QueryError } from '../query-error.ts';
import { readA2sReply } from './a2s.ts';
import { joinSplits } from './a2s-splits.ts';

/** A server sends another one if the last one has expired. */
const MOST_CHALLENGES = 5;

/** `request`: without a challenge. */
export const askA2s =
  (request: Buffer): OwnProtocol =>
  async ({ game }, connections) => {
    const format = textFormatOf(game);
    let challenge = Buffer.alloc(0);
    for (let round = 0; round <= MOST_CHALLENGES; round += 1) {
      const join = joinSplits();
      const reply = await connections.askDatagram(Buffer.concat([request, challenge]), (datagram) => {
        const joined = join(datagram);
        return joined && readA2sReply(joined, (bytes) => decodeText(bytes, format));
      });
      if ('said' in reply) return reply.said;
      challenge = Buffer.from(reply.challenge);
    }
    throw new QueryError('answer-broken', 'The server sends challenges and no answer.');
  };
