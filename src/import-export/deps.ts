import type { GoalsDeps } from '../goals/deps.ts';
import type { HistoryDeps } from '../history/deps.ts';

/** Of an import of votes; those of servers and samples take `HistoryDeps`. */
export type ImportVotesDeps = HistoryDeps & GoalsDeps;
