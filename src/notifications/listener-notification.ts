import type { Listener } from '../listeners/listener.ts';
import type { Server } from '../servers/server.ts';
import type { Attempt } from '../votes/vote.ts';
import type { DeliveryCounts } from './delivery-counts.ts';

export type ListenerNotification = {
  listener: Listener;
  server: Server;
  deliveries: DeliveryCounts;
  /** When the first of the waiting votes expires. */
  expiresAt: Date | null;
  /** The newest attempt of that vote; null if no vote waits or that vote was not sent yet. */
  lastAttempt: Pick<Attempt, 'code' | 'words'> | null;
};
