import { randomUUID } from 'node:crypto';
import type { Collection, Filter, ObjectId } from 'mongodb';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { Progress } from '../platform/progress.ts';
import type { VoteExclusion } from '../votes/exclusions/vote-exclusion.ts';
import {
  ACTIONS_WITH_NAMES,
  ERASED_PLAYER,
  FINISHED_EXCLUSION,
  namelessKey,
  openVotesFilter,
  pastCooldown,
  removeName,
} from '../votes/nameless.ts';
import { usernameKey } from '../votes/username.ts';
import type { Vote } from '../votes/vote.ts';
import type { WorkflowsDeps } from './deps.ts';

/** With `dryRun`: would lose it. `remaining`: votes that keep the name for now. */
export type Erased = {
  votes: number;
  reviews: number;
  favourites: number;
  exclusions: number;
  auditEntries: number;
  remaining: { open: number; recent: number };
};

/** Votes of the last 24 hours, with an open delivery or in quarantine keep the name until the function is run again. */
export async function erasePlayer(
  deps: WorkflowsDeps,
  name: string,
  by: string,
  { dryRun = false, progress = () => undefined }: { dryRun?: boolean; progress?: Progress } = {},
): Promise<Erased> {
  const key = usernameKey(name);
  const votes = await eraseVotes(deps, key, { dryRun, progress });
  const how = { key, dryRun };
  const named = { action: { $in: ACTIONS_WITH_NAMES } };
  const erased = {
    ...votes,
    reviews: await eraseNames(deps.reviews, {}, 'username', how),
    favourites: await eraseNames(deps.favourites, { username: { $exists: true } }, 'username', how, null),
    exclusions: await eraseExclusions(deps, how),
    auditEntries: await eraseNames(deps.auditLog, named, 'details.username', how),
  };
  if (!dryRun) {
    // A block that is in effect needs its name. A block that was lifted or has ended is deleted.
    const ended = { $or: [{ isActive: { $exists: false } }, { endsAt: { $lte: deps.clock.now() } }] };
    await deps.blocks.deleteMany({ kind: 'name', value: key, ...ended });
    await recordAudit(deps, { by, action: 'player.erase', serverId: null, details: { ...erased } });
  }
  return erased;
}

type How = { key: string; dryRun: boolean };

async function eraseVotes(
  deps: WorkflowsDeps,
  key: string,
  { dryRun, progress }: { dryRun: boolean; progress: Progress },
): Promise<Pick<Erased, 'votes' | 'remaining'>> {
  const { servers, votes, clock } = deps;
  const now = clock.now();
  const ids = await servers.find({}, { projection: { _id: 1 } }).toArray();
  const erased = { votes: 0, remaining: { open: 0, recent: 0 } };
  progress(0, ids.length);
  for (const [done, { _id: serverId }] of ids.entries()) {
    const ofPlayer = { serverId, usernameKey: key };
    const open = await openVotesFilter(deps, serverId);
    const erasable = { ...ofPlayer, ...pastCooldown(now), $nor: [open] };
    // Counted before the change, because these queries find only votes that still have the name.
    erased.remaining.open += await votes.countDocuments({ ...ofPlayer, ...open });
    erased.remaining.recent += await votes.countDocuments({ ...ofPlayer, $nor: [open, pastCooldown(now)] });
    erased.votes += dryRun
      ? await votes.countDocuments(erasable)
      : await eraseVotesOf(votes, erasable, { now, open });
    progress(done + 1, ids.length);
  }
  return erased;
}

async function eraseVotesOf(
  votes: Collection<Vote>,
  filter: Filter<Vote>,
  needed: { now: Date; open: Filter<Vote> },
): Promise<number> {
  const key = namelessKey(randomUUID());
  const found = votes.find(filter, { projection: { serverId: 1, usernameKey: 1 } });
  let erased = 0;
  for (const vote of await found.toArray()) if (await removeName(votes, vote, key, needed)) erased += 1;
  return erased;
}

/** null removes the field. Reads every document that matches, because these collections have no index by player. */
async function eraseNames<T extends { _id: ObjectId }>(
  collection: Collection<T>,
  filter: Filter<T>,
  field: 'username' | 'details.username',
  { key, dryRun }: How,
  replacement: string | null = ERASED_PLAYER,
): Promise<number> {
  type Named = { _id: ObjectId; username?: unknown; details?: { username?: unknown } };
  let erased = 0;
  for await (const named of collection.find<Named>(filter, { projection: { [field]: 1 } })) {
    const name = field === 'username' ? named.username : named.details?.username;
    if (typeof name !== 'string' || usernameKey(name) !== key) continue;
    erased += 1;
    if (dryRun) continue;
    const same = { _id: named._id, [field]: name } as Filter<T>;
    await collection.updateOne(same, [
      replacement === null ? { $unset: field } : { $set: { [field]: replacement } },
    ]);
  }
  return erased;
}

async function eraseExclusions({ voteExclusions }: WorkflowsDeps, { key, dryRun }: How): Promise<number> {
  const finished: Filter<VoteExclusion> = { ...FINISHED_EXCLUSION, usernameKey: key };
  if (dryRun) return voteExclusions.countDocuments(finished);
  const { modifiedCount } = await voteExclusions.updateMany(finished, {
    $set: { username: ERASED_PLAYER },
    $unset: { usernameKey: '' },
  });
  return modifiedCount;
}
