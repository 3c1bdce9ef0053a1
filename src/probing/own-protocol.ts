import type { Game } from '../games/games.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import type { Target } from './ask.ts';
import type { OldServers } from './protocols/old-servers.ts';
import type { QueryConnections, QueryServer } from './query-connections.ts';
import type { Said } from './read-answer.ts';

/** The server to ask, as the owner entered it and as it was resolved. */
export type Asked = {
  server: QueryServer;
  game: Game;
  target: Target;
  /** The Minecraft servers of old versions that this process knows. */
  oldServers: OldServers;
  /** Called before each further connection to the server; undefined if connections are not limited. */
  mayConnect: MayConnect | undefined;
};

/**
 * Asks a server in one protocol. The first valid answer holds: a later question that is refused, ignored or answered
 * wrongly changes nothing.
 *
 * @throws {QueryError} when there is no valid answer
 */
export type OwnProtocol = (asked: Asked, connections: QueryConnections) => Promise<Said>;
