import type { Document, ObjectId } from 'mongodb';
import { after } from '../../platform/clock.ts';
import { parseInput } from '../../platform/input.ts';
import { QUARANTINE_READ_MS } from '../cast/insert-vote.ts';
import type { VotesDeps } from '../deps.ts';
import { EXCLUDED_VOTES } from '../vote.ts';
import { exclusionsOfGroup } from './player-exclusion.ts';
import { castAfter } from './quarantine.ts';
import { auditDecisions, type ExclusionReasons, hashedId, reasonsSchema } from './request-exclusion.ts';
import { QUARANTINES_OF_ORIGIN, type VoteExclusion } from './vote-exclusion.ts';

/** `lift`: the votes count and are delivered. */
export const HELD_DECISIONS = ['lift', 'exclude'] as const;
export type HeldDecision = (typeof HELD_DECISIONS)[number];

/** The votes were cast up to `until`. */
export type SeenHeld = { quarantineIds: ObjectId[]; until: Date };

export type Decided = {
  /** All its exclusions have it. */
  groupId: ObjectId;
  exclusions: VoteExclusion[];
  /** Quarantines about which another operator decided first. */
  missed: number;
  /** Votes cast after `until`, which stay held, up to `COUNTED_LATER`. */
  later: number;
  /** Open quarantines of the same origins beyond `MOST_DECIDED`, up to `COUNTED_OPEN`. */
  left: number;
};

export const MOST_DECIDED = 100;

export const COUNTED_OPEN = 10_000;
export const COUNTED_LATER = 1_000;

type Decision = { is: 'lift' } | ({ is: 'exclude' } & ExclusionReasons);

/**
 * Stores an operator's decision, which workers carry out. It covers the votes that the operator saw; later ones move to
 * a new quarantine. Of two operators, the first decision about each quarantine stays. A repeated call decides the rest,
 * and returns what the first one decided too.
 *
 * @throws {InvalidDocumentError} without a reason to exclude
 */
export async function decideHeld(
  deps: VotesDeps,
  decision: Decision,
  { quarantineIds, until }: SeenHeld,
  by: string,
): Promise<Decided> {
  const wanted = quarantineIds.slice(0, MOST_DECIDED);
  const groupId = hashedId(JSON.stringify([decision.is, by, until, wanted]));
  const update = updateOf(decision, { by, groupId, until, now: deps.clock.now() });
  const exclusions = await exclusionsOfGroup(deps, groupId);
  for (const _id of wanted) {
    const decided = await deps.voteExclusions.findOneAndUpdate({ _id, state: 'quarantined' }, update, {
      returnDocument: 'after',
    });
    if (!decided) continue;
    await auditDecisions(deps, decided);
    exclusions.push(decided);
  }
  const jobs = exclusions.map(({ _id }) => ({ payload: { exclusionId: _id.toHexString() } }));
  await deps.producer.addAll('exclude-votes', jobs);
  const origins = exclusions.flatMap(({ shown }) => shown?.origin ?? []);
  const [later, left] = await Promise.all([
    countLater(deps, { exclusions, origins, wanted, until }),
    countLeft(deps, origins, until),
  ]);
  return { groupId, exclusions, missed: wanted.length - exclusions.length, later, left };
}

type Stored = { by: string; groupId: ObjectId; until: Date; now: Date };

/** Closes the quarantine: votes that are cast from now on enter a new one. */
function updateOf(decision: Decision, { by, groupId, until, now }: Stored): Document[] {
  const at = { by: { $literal: by }, at: now };
  return [
    { $set: { shown: { until, reason: '$reason', origin: '$origin' } } },
    { $set: { groupId, until: after(now, QUARANTINE_READ_MS) } },
    {
      $set:
        decision.is === 'lift'
          ? { state: 'releasing', undone: at }
          : { state: 'confirming', ...at, ...literals(parseInput(reasonsSchema, decision)) },
    },
    { $unset: 'origin' },
  ];
}

function literals({ reason, reasonForOwner }: ExclusionReasons): Document {
  return {
    reason: { $literal: reason },
    ...(reasonForOwner ? { reasonForOwner: { $literal: reasonForOwner } } : {}),
  };
}

type Counted = { exclusions: VoteExclusion[]; origins: string[]; wanted: ObjectId[]; until: Date };

/** In the decided quarantines and in new ones of the same origins. */
async function countLater(
  { votes, voteExclusions }: VotesDeps,
  { exclusions, origins, wanted, until }: Counted,
): Promise<number> {
  const since = { origin: { $in: origins }, state: 'quarantined' as const, at: { $gt: until } };
  const opened = await voteExclusions
    .find({ ...since, _id: { $nin: wanted } }, { hint: QUARANTINES_OF_ORIGIN })
    .limit(MOST_DECIDED)
    .toArray();
  const counted = await Promise.all(
    [...exclusions, ...opened].map((one) =>
      votes.countDocuments(castAfter(one, until), { hint: EXCLUDED_VOTES, limit: COUNTED_LATER }),
    ),
  );
  return Math.min(
    counted.reduce((sum, one) => sum + one, 0),
    COUNTED_LATER,
  );
}

async function countLeft({ voteExclusions }: VotesDeps, origins: string[], until: Date): Promise<number> {
  const open = { origin: { $in: origins }, state: 'quarantined' as const, at: { $lte: until } };
  return voteExclusions.countDocuments(open, { hint: QUARANTINES_OF_ORIGIN, limit: COUNTED_OPEN });
}
