import type { Collection, ObjectId } from 'mongodb';
import type { StatusSample } from '../status/status-sample.ts';
import type { Vote } from '../votes/vote.ts';

/** From `since` on, before `until`; without one of them there is no such bound. */
export type Span = { since?: Date | undefined; until?: Date | undefined };

/** Read so many at a time: memory does not grow with the history. */
const BATCH = 1_000;

/**
 * A server's samples as lines that `import samples` takes, oldest first. The time series keeps 35 days; of older
 * ones there are only sums.
 */
export async function* exportSamples(
  { statusSamples }: { statusSamples: Collection<StatusSample> },
  serverId: ObjectId,
  span: Span,
): AsyncGenerator<string> {
  const samples = statusSamples
    .find({ serverId, ...between('at', span) })
    .sort({ at: 1 })
    .batchSize(BATCH);
  for await (const sample of samples) yield lineOf(sampleRecord(sample));
}

function sampleRecord(sample: StatusSample): Record<string, unknown> {
  const { status, reason, source, seconds } = sample;
  return {
    server_id: sample.serverId.toHexString(),
    at: sample.at.toISOString(),
    online: status === 'unknown' ? null : status === 'online',
    online_players: sample.onlinePlayers,
    max_players: sample.maxPlayers,
    latency_ms: sample.latencyMs ?? null,
    ...(source === 'report' ? { source } : { seconds }),
    ...(status === 'unknown' ? { reason: reason ?? 'unconfirmed' } : {}),
  };
}

/** A server's votes as lines that `import votes` takes, oldest first. Excluded votes count nowhere: they stay. */
export async function* exportVotes(
  { votes }: { votes: Collection<Vote> },
  serverId: ObjectId,
  span: Span,
): AsyncGenerator<string> {
  const counting = votes
    .find({ serverId, ...between('votedAt', span) }, { projection: { username: 1, votedAt: 1 } })
    .sort({ votedAt: 1 })
    .batchSize(BATCH);
  for await (const { username, votedAt } of counting) {
    yield lineOf({ server_id: serverId.toHexString(), username, voted_at: votedAt.toISOString() });
  }
}

function between(field: string, { since, until }: Span): Record<string, unknown> {
  if (!since && !until) return {};
  return { [field]: { ...(since ? { $gte: since } : {}), ...(until ? { $lt: until } : {}) } };
}

function lineOf(record: Record<string, unknown>): string {
  return `${JSON.stringify(record)}\n`;
}
