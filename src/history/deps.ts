import type { Collection } from 'mongodb';
import type { DeliveryDeps } from '../delivery/deps.ts';
import type { DailyStats } from './daily-stats.ts';
import type { StatusSample } from './status-sample.ts';

export type HistoryDeps = DeliveryDeps & {
  dailyStats: Collection<DailyStats>;
  statusSamples: Collection<StatusSample>;
};
