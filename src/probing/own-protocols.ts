import type { Game } from '../games/games.ts';
import type { Target } from './ask.ts';
import { askFivem, askQuake } from './protocols/quake.ts';
import { askSamp } from './protocols/samp.ts';
import { askTeamspeak2, askTeamspeak3 } from './protocols/teamspeak.ts';
import type { QueryConnections, QueryServer } from './query-connections.ts';
import type { Said } from './read-answer.ts';

/** The server to ask, as the owner entered it and as it was resolved. */
export type Asked = { server: QueryServer; game: Game; target: Target };

/**
 * Asks a server in one protocol. The first valid answer holds: a later question that is refused, ignored or answered
 * wrongly changes nothing.
 *
 * @throws {QueryError} when there is no valid answer
 */
export type OwnProtocol = (asked: Asked, connections: QueryConnections) => Promise<Said>;

/** The protocols that we speak ourselves, by gamedig's names; gamedig speaks the others (ADR 0121). */
const OWN: Readonly<Record<string, OwnProtocol>> = {
  fivem: askFivem,
  gtasao: askSamp,
  hexen2: askQuake,
  quake1: askQuake,
  quake2: askQuake,
  quake3: askQuake,
  samp: askSamp,
  teamspeak2: askTeamspeak2,
  teamspeak3: askTeamspeak3,
  vcmp: askSamp,
  warsow: askQuake,
  xonotic: askQuake,
};

/** Our own implementation of a protocol; undefined if there is none. */
export function ownProtocol(name: string): OwnProtocol | undefined {
  return Object.hasOwn(OWN, name) ? OWN[name] : undefined;
}
