import type { Collection } from 'mongodb';
import type { Listener } from '../listeners/listener.ts';
import type { ServersDeps } from '../servers/deps.ts';
import type { Block, BlockList } from './blocks/block-list.ts';
import type { IdempotencyKey } from './cast/cast-once.ts';
import type { ImportedCooldowns } from './cast/imported-cooldowns.ts';
import type { VoteExclusion } from './exclusions/vote-exclusion.ts';
import type { Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';
import type { VoteCounts } from './vote-counts.ts';
import type { UsedProofOfWork } from './web/proof-of-work.ts';
import type { ReturningPlayer } from './web/returning-players.ts';
import type { VoteOrigin } from './web/vote-origin.ts';

export type VotesDeps = ServersDeps & {
  blockList: BlockList;
  blocks: Collection<Block>;
  importedCooldowns: ImportedCooldowns;
  idempotencyKeys: Collection<IdempotencyKey>;
  listeners: Collection<Listener>;
  /** Of one try of a proof of work, in iterations of PBKDF2. */
  proofIterations: number;
  returningPlayers: Collection<ReturningPlayer>;
  usedProofs: Collection<UsedProofOfWork>;
  voteCounters: Collection<VoteCounter>;
  voteCounts: VoteCounts;
  voteExclusions: Collection<VoteExclusion>;
  voteOrigins: Collection<VoteOrigin>;
  votes: Collection<Vote>;
};
