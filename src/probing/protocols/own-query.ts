import type { MayConnect } from '../../platform/limits/outgoing-limit.ts';
import type { QueryConnections, QueryServer } from '../query-connections.ts';

/** A query of one address and port in a protocol of our own. */
export type OwnQuery = {
  server: QueryServer;
  connections: QueryConnections;
  /** Called before each TCP connection after the first; absent if connections are not limited. */
  mayConnect: MayConnect | undefined;
};
