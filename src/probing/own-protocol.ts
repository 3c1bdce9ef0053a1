import type { Game } from '../games/games.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import type { Target } from './ask.ts';
import type { OldServers } from './protocols/old-servers.ts';
import type { QueryConnections, QueryServer } from './query-connections.ts';
import type { UncheckedAnswer } from './read-answer.ts';

/** The server that is queried, as its owner entered it and as it was resolved. */
export type Asked = {
  server: QueryServer;
  game: Game;
  target: Target;
  /** The Minecraft servers that this process knows to have an old version. */
  oldServers: OldServers;
  /** `askJava` calls it before each further connection to the server. Undefined if connections are not limited. */
  mayConnect: MayConnect | undefined;
};

/**
 * Queries a server in one protocol. The first valid answer counts, even if a later question is refused, ignored or
 * answered wrongly.
 *
 * @throws {QueryError} when there is no valid answer
 */
export type OwnProtocol = (asked: Asked, connections: QueryConnections) => Promise<UncheckedAnswer>;
