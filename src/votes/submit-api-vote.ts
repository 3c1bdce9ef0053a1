import type { Collection } from 'mongodb';
import { within } from '../platform/deadline.ts';
import type { BlockList } from './blocks/block-list.ts';
import { exclusionOfBlock } from './blocks/hold-vote.ts';
import type { OnceDeps } from './cast-vote-once.ts';
import { submitVote, type VoteSubmission } from './submit-vote.ts';
import { usernameKey } from './username.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

/**
 * Casts a vote of the API. The vote of a blocked name gets the same answer as any other (the API has no answer for it),
 * but it is held back: not counted, not delivered, not claimable (ADR 98).
 *
 * @param timeoutMs - as for `submitVote`; it includes the time in which the blocks are read
 * @throws what `submitVote` throws; the driver's error before the vote was sent
 */
export async function submitApiVote(
  deps: OnceDeps & { blockList: BlockList; voteExclusions: Collection<VoteExclusion> },
  submission: VoteSubmission,
  timeoutMs: number,
): ReturnType<typeof submitVote> {
  const { serverId, username } = submission;
  const began = performance.now();
  const timeLeft = () => timeoutMs - (performance.now() - began);
  const key = usernameKey(username);
  const now = deps.clock.now();
  const block = await within(timeLeft(), deps.blockList.findName(key, now));
  if (!block) return submitVote(deps, submission, timeLeft());
  deps.blockList.countHit(block, now);
  const held = { serverId, blockId: block._id, username, usernameKey: key };
  const quarantineId = await within(timeLeft(), exclusionOfBlock(deps, held));
  return submitVote(deps, { ...submission, quarantineId }, timeLeft());
}
