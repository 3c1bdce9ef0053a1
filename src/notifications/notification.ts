import type { Person } from '../accounts/person.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Server } from '../servers/server.ts';
import type { Fate } from './fate.ts';

/** What a mail tells of. */
export type Notification = {
  listener: Listener;
  server: Server;
  owner: Person;
  fate: Fate;
  expiresAt: Date | null;
};
