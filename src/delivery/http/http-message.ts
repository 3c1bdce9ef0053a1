import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ForwardedVote } from '../vote-message.ts';

/** Standard Webhooks requires 24 to 64. */
const SECRET_BYTES = 32;

export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The same in every attempt. */
export function voteBody({ id, username, votedAt }: ForwardedVote, serverId: string): string {
  const data = { vote_id: id, server_id: serverId, username, voted_at: votedAt.toISOString() };
  return JSON.stringify({ type: 'vote.cast', data });
}

/** Standard Webhooks 1.0: the receiver accepts any of the signatures. A vote's `id` is the same in every attempt. */
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

export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}
