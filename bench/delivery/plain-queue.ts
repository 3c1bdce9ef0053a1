/** The queue of plain-peer.ts: one job for each vote. */
export const PLAIN_QUEUE = 'plain-votes';

export type PlainJob = { serverId: string; voteId: string };
