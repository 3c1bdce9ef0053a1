import type { ModerationDeps } from './deps.ts';
import { listenersDown, unusualFigures } from './needs-attention.ts';

export type AttentionCounts = {
  /** Groups of held votes (votes/exclusions/held-votes.ts). */
  held: number;
  reviews: number;
  /** Servers with open complaints. */
  complaints: number;
  listeners: number;
  /** New servers. */
  servers: number;
  /** Servers with unusual figures. */
  figures: number;
};

/** At most this many open quarantines, pending reviews, open complaints and new servers are counted. */
export const COUNTED_UP_TO = 100;

/** Counts what needs attention. Each query uses a small index. */
export async function countAttention(deps: ModerationDeps): Promise<AttentionCounts> {
  const limit = COUNTED_UP_TO;
  const [held, reviews, complaints, listeners, servers, figures] = await Promise.all([
    countHeld(deps),
    deps.reviews.countDocuments({ state: 'pending' }, { limit }),
    countServersWithComplaints(deps),
    rowsOf(listenersDown(deps)),
    deps.servers.countDocuments({ isUnseen: true }, { limit, hint: 'new_servers' }),
    rowsOf(unusualFigures(deps)),
  ]);
  return { held, reviews, complaints, listeners, servers, figures };
}

async function countHeld({ voteExclusions }: ModerationDeps): Promise<number> {
  const open = await voteExclusions
    .find({ state: 'quarantined' }, { projection: { origin: 1 }, limit: COUNTED_UP_TO })
    .toArray();
  return new Set(open.map(({ _id, origin }) => origin ?? _id.toHexString())).size;
}

async function countServersWithComplaints({ complaints }: ModerationDeps): Promise<number> {
  const open = await complaints
    .find({ isOpen: true }, { projection: { serverId: 1 }, limit: COUNTED_UP_TO })
    .sort({ at: -1, _id: -1 })
    .toArray();
  return new Set(open.map(({ serverId }) => serverId.toHexString())).size;
}

async function rowsOf(kinds: Promise<Record<string, { rows: unknown[] }>>): Promise<number> {
  return Object.values(await kinds).reduce((sum, { rows }) => sum + rows.length, 0);
}
