import { type Collection, ObjectId } from 'mongodb';
import type { Block } from './blocks/block.ts';
import { blockOrigin, type ChangeDeps } from './blocks/change-blocks.ts';
import { type ExcludeDeps, requestInclusion } from './exclude-votes.ts';
import { excludeQuarantined, type OpenQuarantine, openQuarantines } from './quarantine.ts';
import type { Vote } from './vote.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

/** The open quarantines that one operator's decision ends: those of an origin on all servers, or a server's own one. */
export type QuarantineGroup = {
  /** The keyed hash of the network, neighbourhood or mail domain; null for the votes of one server together. */
  origin: string | null;
  /** The oldest first. */
  quarantines: OpenQuarantine[];
};

/** The most quarantines that one decision ends; the next press ends the rest. */
const MOST_OF_GROUP = 1_000;

type ReadDeps = { votes: Collection<Vote>; voteExclusions: Collection<VoteExclusion> };

/** The groups of the oldest open quarantines. */
export async function quarantineGroups(
  deps: ReadDeps,
  { limit }: { limit: number },
): Promise<QuarantineGroup[]> {
  const groups = new Map<string, QuarantineGroup>();
  for (const open of await openQuarantines(deps, { limit })) {
    const { _id, origin } = open.quarantine;
    const key = origin ?? _id.toHexString();
    const group = groups.get(key) ?? { origin: origin ?? null, quarantines: [] };
    group.quarantines.push(open);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** How operators decide about a group. */
export type GroupDecision = 'release' | 'exclude';

/**
 * Decides about all open quarantines of an origin, one after another: the audit log has an entry for each server, as for
 * single ones. After a crash, the same call decides about the rest.
 *
 * @param reason - for an exclusion
 * @returns how many were open; 0 when another operator was first
 * @throws {InvalidDocumentError} for the reason
 */
export async function decideGroup(
  deps: ExcludeDeps,
  origin: string,
  decision: GroupDecision,
  { by, reason }: { by: string; reason: string },
): Promise<number> {
  const open = await openOfOrigin(deps, origin);
  // One id for all, so that the exclusion can be undone on all servers at once.
  const groupId = new ObjectId();
  for (const { _id } of open) {
    if (decision === 'release') await requestInclusion(deps, _id, by);
    else await excludeQuarantined(deps, _id, reason, by, groupId);
  }
  return open.length;
}

/**
 * Blocks the network of a group for 30 days. Its held votes stay held until they are decided.
 *
 * @returns the block; null when no open quarantine holds votes of such a network
 * @throws {InvalidDocumentError} when it is blocked already, or the list of blocks is full
 */
export async function blockGroup(
  deps: Pick<ExcludeDeps, 'voteExclusions'> & ChangeDeps,
  origin: string,
  by: string,
): Promise<Block | null> {
  const [first] = await openOfOrigin(deps, origin);
  if (first?.cause !== 'network' && first?.cause !== 'neighbourhood') return null;
  return blockOrigin(deps, { origin, reason: first.reason }, by);
}

function openOfOrigin(
  { voteExclusions }: Pick<ExcludeDeps, 'voteExclusions'>,
  origin: string,
): Promise<VoteExclusion[]> {
  return voteExclusions
    .find({ origin, state: 'quarantined' })
    .sort({ _id: 1 })
    .limit(MOST_OF_GROUP)
    .toArray();
}
