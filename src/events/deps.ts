import type { Collection } from 'mongodb';
import type { GoalsDeps } from '../goals/deps.ts';
import type { HistoryDeps } from '../history/deps.ts';
import type { RankSnapshot } from '../ranking/rank-snapshot.ts';
import type { ReviewsDeps } from '../reviews/deps.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { StoredEvent } from './event.ts';
import type { LiveMessage } from './live-status/live-message.ts';
import type { VoteWatch } from './sources/vote-watch.ts';
import type { Subscription } from './subscription.ts';

export type EventsDeps = HistoryDeps &
  ReviewsDeps &
  GoalsDeps & {
    attemptLogs: Collection<AttemptLog>;
    events: Collection<StoredEvent>;
    liveMessages: Collection<LiveMessage>;
    rankSnapshots: Collection<RankSnapshot>;
    subscriptions: Collection<Subscription>;
    voteWatches: Collection<VoteWatch>;
  };
