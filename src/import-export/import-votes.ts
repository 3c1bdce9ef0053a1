import type { Collection, ObjectId } from 'mongodb';
import { z } from 'zod';
import type { HistoryDeps } from '../history/deps.ts';
import { after, type Clock } from '../platform/clock.ts';
import { insertAbsent } from '../platform/mongo.ts';
import { newVoteId } from '../votes/cast/cast-vote.ts';
import { nextVoteAt } from '../votes/cast/cooldown.ts';
import { CLOCKS_DIFFER_MS } from '../votes/cast/insert-vote.ts';
import { ERASED_PLAYER, namelessKey } from '../votes/nameless.ts';
import { usernameKey, usernameSchema } from '../votes/username.ts';
import { noDelivery, type Vote } from '../votes/vote.ts';
import type { Importer, LineResult } from './import-lines.ts';
import {
  byServer,
  OBJECT_ERROR,
  pastMoment,
  refuseUnknownServers,
  serverIdField,
  touchedDays,
} from './records.ts';

/** `usernameKey` is set if the other listing removed the player's name. */
export type VoteRecord = { serverId: ObjectId; username: string; usernameKey?: string; votedAt: Date };

const namelessError = { error: 'must be the id that the export wrote' };

/** A line: `{"server_id", "username", "voted_at"}`, and `"nameless"` if the name is `"(erased)"`. */
function voteSchema(clock: Clock) {
  return z
    .object(
      {
        server_id: serverIdField,
        username: usernameSchema,
        voted_at: pastMoment(clock),
        nameless: z
          .string(namelessError)
          .regex(/^[\da-f-]{1,36}$/, namelessError)
          .nullish(),
      },
      OBJECT_ERROR,
    )
    .transform(
      ({ server_id, username, voted_at, nameless }): VoteRecord => ({
        serverId: server_id,
        username,
        ...(username === ERASED_PLAYER ? { usernameKey: namelessKey(nameless ?? '') } : {}),
        votedAt: voted_at,
      }),
    );
}

/** One recount mostly waits for the database. */
const RECOUNTED_AT_ONCE = 50;

/** Votes count in every figure and are never forwarded. A vote of the last 24 hours starts the player's cooldown. */
export function voteImporter(
  deps: HistoryDeps,
  recount: (serverId: ObjectId, days: string[]) => Promise<unknown>,
): Importer<VoteRecord> {
  const touched = touchedDays();
  const recountTouched = async () => {
    const servers = touched.take().values();
    // All calls share the iterator `servers`, so each server is recounted once.
    const recountNext = async () => {
      for (const { serverId, days } of servers) await recount(serverId, days);
    };
    await Promise.all(Array.from({ length: RECOUNTED_AT_ONCE }, recountNext));
  };
  return {
    schema: voteSchema(deps.clock),
    check: (batch) => refuseUnknownServers(deps, batch),
    async write(batch) {
      const results = await writeVotes(deps, batch);
      // Days of existing votes are counted too: an earlier run may have died after it wrote the votes.
      for (const { serverId, votedAt } of batch) touched.add(serverId, votedAt);
      await noteOldest(deps, batch);
      if (touched.isFull()) await recountTouched();
      return results;
    },
    finish: recountTouched,
  };
}

/** The next removal of old player names begins at `votesNamedSince`. */
async function noteOldest({ servers }: HistoryDeps, batch: VoteRecord[]): Promise<void> {
  for (const { serverId, records } of byServer(batch)) {
    const votesNamedSince = new Date(Math.min(...records.map(({ votedAt }) => votedAt.getTime())));
    const later = { _id: serverId, votesNamedSince: { $gt: votesNamedSince } };
    await servers.updateOne(later, { $set: { votesNamedSince } });
  }
}

/** Negative, in the order of time, so live votes have higher numbers (`seq`). */
const SEQ_BASE = 10 ** 15;

function importedVote({ serverId, username, usernameKey: nameless, votedAt }: VoteRecord): Vote {
  return {
    _id: newVoteId(votedAt),
    serverId,
    username,
    usernameKey: nameless ?? usernameKey(username),
    seq: votedAt.getTime() - SEQ_BASE,
    votedAt,
    tokenId: null,
    delivery: noDelivery(),
  };
}

/**
 * Votes with the same server, player and millisecond are the same vote, live or imported. If two imports insert it, the
 * unique index accepts it once.
 */
export async function writeVotes(deps: HistoryDeps, batch: VoteRecord[]): Promise<LineResult[]> {
  const { votes } = deps;
  const wanted = batch.map(importedVote);
  await announceCooldowns(deps, wanted);
  const there = await votesThere(votes, wanted);
  const results: LineResult[] = [];
  const fresh: Vote[] = [];
  const indexes: number[] = [];
  for (const [index, vote] of wanted.entries()) {
    const key = momentKey(vote);
    results.push(there.has(key) ? 'already-there' : 'imported');
    if (there.has(key)) continue;
    there.add(key);
    indexes.push(index);
    fresh.push(vote);
  }
  for (const taken of await insertAbsent(votes, fresh)) results[indexes[taken] ?? -1] = 'already-there';
  return results;
}

async function announceCooldowns({ importedCooldowns, clock }: HistoryDeps, votes: Vote[]): Promise<void> {
  const now = clock.now();
  const endAt = new Date(Math.max(...votes.map((vote) => nextVoteAt(vote).getTime())));
  // Another process's clock may be behind.
  if (endAt > after(now, -CLOCKS_DIFFER_MS)) await importedCooldowns.announce(endAt, now);
}

function momentKey({ serverId, usernameKey, votedAt }: Pick<Vote, 'serverId' | 'usernameKey' | 'votedAt'>) {
  return `${serverId.toHexString()} ${votedAt.getTime()} ${usernameKey}`;
}

async function votesThere(votes: Collection<Vote>, wanted: Vote[]): Promise<Set<string>> {
  const there = new Set<string>();
  for (const { serverId, records } of byServer(wanted)) {
    const sameMoments = votes.find(
      { serverId, votedAt: { $in: records.map(({ votedAt }) => votedAt) } },
      { projection: { serverId: 1, usernameKey: 1, votedAt: 1 } },
    );
    for await (const vote of sameMoments) there.add(momentKey(vote));
  }
  return there;
}
