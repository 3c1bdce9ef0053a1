import type { Collection } from 'mongodb';
import type { VotesDeps } from '../votes/deps.ts';
import type { GoalRound, VoteGoal } from './goal.ts';

export type GoalsDeps = VotesDeps & {
  voteGoals: Collection<VoteGoal>;
  goalRounds: Collection<GoalRound>;
};
