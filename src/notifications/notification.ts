import type { User } from '../accounts/user.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Server } from '../servers/server.ts';
import type { DeliveryCounts } from './delivery-counts.ts';

/** The data of one notification mail. */
export type Notification = {
  listener: Listener;
  server: Server;
  owner: User;
  deliveries: DeliveryCounts;
  expiresAt: Date | null;
};
