import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { type ForwardedVote, VOTER_ADDRESS } from '../vote-message.ts';

const MAGIC = 0x733a;
const HEADER_BYTES = 4;

/** NuVotifier's decoder discards a longer frame, header included. */
const LONGEST_FRAME = 1_024;

/** What a v2 frame needs besides the vote; `tokenKey` makes `key`. */
export type Signing = { serviceName: string; key: KeyObject; challenge: string };

/** A listener's token as the key that signs. */
export function tokenKey(token: string): KeyObject {
  return createSecretKey(token, 'utf8');
}

/**
 * The one message of Votifier v2: magic, length in bytes, and JSON that holds the payload as a text together
 * with the HMAC of that text's bytes.
 */
export function v2Frame(
  vote: ForwardedVote,
  { serviceName, key, challenge }: Signing,
): Buffer | 'frame-too-long' {
  const payload = JSON.stringify({
    serviceName,
    username: vote.username,
    address: VOTER_ADDRESS,
    timestamp: vote.votedAt.getTime(),
    challenge,
    uuid: vote.id,
  });
  const signature = createHmac('sha256', key).update(payload, 'utf8').digest('base64');
  const message = Buffer.from(JSON.stringify({ payload, signature }), 'utf8');
  if (HEADER_BYTES + message.length > LONGEST_FRAME) return 'frame-too-long';

  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(MAGIC, 0);
  header.writeUInt16BE(message.length, 2);
  return Buffer.concat([header, message]);
}

/** Whether a listener that speaks both versions would take these bytes for a v2 frame. */
export function startsLikeV2(bytes: Buffer): boolean {
  return bytes.readUInt16BE(0) === MAGIC;
}
