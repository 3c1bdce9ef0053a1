import type { Game } from '../games/games.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import type { Target } from './ask.ts';
import type { OldServers } from './protocols/old-servers.ts';
import type { QueryConnections, QueryServer } from './query-connections.ts';
import type { UncheckedAnswer } from './read-answer.ts';

export type Asked = {
  server: QueryServer;
  game: Game;
  target: Target;
  /** Known to this process to have an old version of Minecraft. */
  oldServers: OldServers;
  /** `askJava` calls it before each further connection. */
  mayConnect: MayConnect | undefined;
};

/** The first valid answer counts, whatever becomes of a later question. @throws {QueryError} when there is none */
export type OwnProtocol = (asked: Asked, connections: QueryConnections) => Promise<UncheckedAnswer>;
