import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ForwardedVote } from '../vote-message.ts';

/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32;

/** Makes the secret that an HTTP listener's votes are signed with: `whsec_` and base64. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The message that an HTTP listener receives; the same in every attempt. */
export function voteBody({ id, username, votedAt }: ForwardedVote, serverId: string): string {
  const data = { vote_id: id, server_id: serverId, username, voted_at: votedAt.toISOString() };
  return JSON.stringify({ type: 'vote.cast', data });
}

/**
 * The headers by which the receiver verifies a message (Standard Webhooks 1.0): the id is the same in every attempt, the
 * timestamp is the attempt's.
 *
 * @param secrets - one signature each; the receiver may use any of them
 */
export function signedHeaders(
  id: string,
  body: string,
  secrets: string[],
  now: Date,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' '),
  };
}
