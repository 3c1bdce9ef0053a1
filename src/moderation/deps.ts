import type { Collection } from 'mongodb';
import type { HistoryDeps } from '../history/deps.ts';
import type { RankingDeps } from '../ranking/deps.ts';
import type { ReviewsDeps } from '../reviews/deps.ts';
import type { Announcement } from './announcement.ts';
import type { Complaint } from './complaint.ts';

export type ModerationDeps = HistoryDeps &
  ReviewsDeps &
  RankingDeps & {
    announcements: Collection<Announcement>;
    complaints: Collection<Complaint>;
  };
