import type { Listener } from '../listeners/listener.ts';
import type { Server } from '../servers/server.ts';
import type { Attempt } from '../votes/vote.ts';
import type { DeliveryCounts } from './delivery-counts.ts';

export type ListenerNotification = {
  listener: Listener;
  server: Server;
  deliveries: DeliveryCounts;
  /** Of the waiting votes. */
  expiresAt: Date | null;
  /** Of that vote; null if it was not sent yet. */
  lastAttempt: Pick<Attempt, 'code' | 'words'> | null;
};
