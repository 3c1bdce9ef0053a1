import { constants, type KeyObject, publicEncrypt } from 'node:crypto';
import { type ForwardedVote, VOTER_ADDRESS } from '../vote-message.ts';
import { startsLikeV2 } from './votifier-v2.ts';

/** PKCS#1 v1.5 padding takes 11 of the block's 256 bytes. */
const LONGEST_TEXT = 245;
const BLOCK_BYTES = 256;

/**
 * The only message of Votifier v1: five lines, encrypted with a 2048-bit public key into exactly 256 bytes.
 *
 * @throws {TypeError} for another key (see credentials.ts)
 */
export function v1Block(
  vote: ForwardedVote,
  serviceName: string,
  publicKey: KeyObject,
): Buffer | 'frame-too-long' {
  const text = Buffer.from(v1Text(vote, serviceName), 'utf8');
  if (text.length > LONGEST_TEXT) return 'frame-too-long';
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
  const block = neverLikeV2(() => publicEncrypt(key, text));
  if (block.length !== BLOCK_BYTES) throw new TypeError('Votifier v1 takes 2048-bit RSA keys only');
  return block;
}

function v1Text(vote: ForwardedVote, serviceName: string): string {
  const lines = ['VOTE', serviceName, vote.username, VOTER_ADDRESS, vote.votedAt.getTime()];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * Listeners that speak both versions distinguish them by the first two bytes. One block in 65,536 needs a second try.
 */
export function neverLikeV2(encrypt: () => Buffer): Buffer {
  for (;;) {
    const block = encrypt();
    if (!startsLikeV2(block)) return block;
  }
}
