import type { Listener } from '../listeners/listener.ts';
import type { Server } from '../servers/server.ts';
import type { DeliveryCounts } from './delivery-counts.ts';

/** The data of one notification about a listener. */
export type ListenerNotification = {
  listener: Listener;
  server: Server;
  deliveries: DeliveryCounts;
  expiresAt: Date | null;
};
