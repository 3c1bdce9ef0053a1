import type { Collection } from 'mongodb';
import type { DailyStats } from '../history/daily-stats.ts';
import type { AuditEntry } from '../platform/audit/audit-log.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import type { PeriodMark } from '../platform/periods/period-marks.ts';
import type { LeaseDeps } from '../platform/periods/work-lease.ts';
import type { ReviewList } from '../reviews/review.ts';
import type { Server } from '../servers/server.ts';
import type { Vote } from '../votes/vote.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';
import type { VoteOrigin } from '../votes/web/vote-origin.ts';
import type { RankSnapshot } from './rank-snapshot.ts';
import type { RankedList, StoredListingSummary } from './ranked-list.ts';

/** Nothing of Redis: a ranking needs MongoDB only. */
export type RankingDeps = LeaseDeps & {
  auditLog: Collection<AuditEntry>;
  config: Pick<ConnectedConfig, 'SECRET_KEY' | 'PAUSED_SERVERS'>;
  dailyStats: Collection<DailyStats>;
  listingSummary: Collection<StoredListingSummary>;
  log: Logger;
  periodMarks: Collection<PeriodMark>;
  rankedLists: Collection<RankedList>;
  rankSnapshots: Collection<RankSnapshot>;
  reviewLists: Collection<ReviewList>;
  servers: Collection<Server>;
  voteCounters: Collection<VoteCounter>;
  voteOrigins: Collection<VoteOrigin>;
  votes: Collection<Vote>;
};
