import { QueryError } from '../query-error.ts';
import type { Said } from '../read-answer.ts';
import { readA2sReply } from './a2s.ts';
import { joinSplits } from './a2s-splits.ts';
import { BEDROCK_PING, readPong } from './bedrock.ts';
import type { OwnQuery } from './own-query.ts';

/**
 * Queries a Minecraft Bedrock server.
 *
 * @throws {QueryError}
 */
export function queryBedrock({ connections }: OwnQuery): Promise<Said> {
  return connections.exchangeDatagrams(BEDROCK_PING, readPong);
}

/** How often a server may ask for another challenge. It does so when ours has expired. */
const MOST_CHALLENGES = 5;

/**
 * Queries a server with Valve's protocol.
 *
 * @param request - without a challenge
 * @throws {QueryError}
 */
export async function queryA2s({ connections }: OwnQuery, request: Buffer): Promise<Said> {
  let challenge = Buffer.alloc(0);
  for (let round = 0; round <= MOST_CHALLENGES; round += 1) {
    const join = joinSplits();
    const reply = await connections.exchangeDatagrams(Buffer.concat([request, challenge]), (datagram) => {
      const joined = join(datagram);
      return joined && readA2sReply(joined);
    });
    if ('said' in reply) return reply.said;
    challenge = Buffer.from(reply.challenge);
  }
  throw new QueryError('answer-broken', 'The server sends challenges and no answer.');
}
