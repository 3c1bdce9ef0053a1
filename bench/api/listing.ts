import { ObjectId } from 'mongodb';
import { setListener } from '../../src/delivery/change-listener.ts';
import type { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { hashToken, makeApiToken, tokenPrefix } from '../../src/servers/token-text.ts';
import { addHistory } from '../../test/support/server-history.ts';
import { listServersAt } from '../../test/support/servers.ts';
import { deliveredVote } from '../../test/support/votes.ts';
import type { Caller } from './load.ts';

const BATCH = 5_000;

/** Lists servers, each with a token, a vote listener that does not run, three months of history and 12 reviews. */
export async function listCallers(deps: AppDeps, servers: number): Promise<Caller[]> {
  const now = new Date();
  const ids = await listServersAt(
    deps,
    Array.from({ length: servers }, () => 1),
    'bench',
    now,
  );
  for (let from = 0; from < servers; from += BATCH) {
    const some = ids.slice(from, from + BATCH);
    await addHistory(deps, some, now, { votes: 0, months: 3, samples: 0, reviews: 12, keys: 0 });
  }
  const callers = ids.map((id) => ({ serverId: id.toHexString(), token: makeApiToken() }));
  for (let from = 0; from < servers; from += BATCH) {
    const tokens = callers.slice(from, from + BATCH).map(({ serverId, token }) => ({
      _id: new ObjectId(),
      serverId: new ObjectId(serverId),
      name: 'bench',
      hash: hashToken(token),
      prefix: tokenPrefix(token),
      createdAt: now,
      expiresAt: null,
      lifetimeMs: null,
      revokedAt: null,
      lastUsedAt: null,
    }));
    await deps.apiTokens.insertMany(tokens);
  }
  return callers;
}

/** Sets `listener` as the vote listener of a caller's server. */
export async function listenAt(
  deps: AppDeps,
  { serverId }: Caller,
  { port, token }: Pick<VotifierListener, 'port' | 'token'>,
): Promise<void> {
  const target = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret: token } as const;
  await setListener(deps, new ObjectId(serverId), { ...target, serviceName: 'Bench' }, 'bench');
}

/** Adds delivered votes of the last year, spread evenly over the servers, each of another player. */
export async function addVotes(
  { votes }: Pick<AppDeps, 'votes'>,
  callers: Caller[],
  count: number,
): Promise<void> {
  const ids = callers.map(({ serverId }) => new ObjectId(serverId));
  const newest = after(new Date(), -2 * DAY);
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => {
      const n = from + i;
      const votedAt = after(newest, -(n % 500_000) * MINUTE);
      return deliveredVote(ids[n % ids.length] as ObjectId, `past${n}`, votedAt);
    });
    await votes.insertMany(batch, { ordered: false });
  }
}
