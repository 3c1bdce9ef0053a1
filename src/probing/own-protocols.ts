import type { Game } from '../games/games.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import type { Target } from './ask.ts';
import { DETAILS_REQUEST, INFO_REQUEST } from './protocols/a2s.ts';
import { askA2s } from './protocols/ask-a2s.ts';
import { askJava } from './protocols/ask-java.ts';
import { askBedrock } from './protocols/bedrock.ts';
import type { OldServers } from './protocols/old-servers.ts';
import { askFivem, askQuake } from './protocols/quake.ts';
import { askSamp } from './protocols/samp.ts';
import { askTeamspeak2, askTeamspeak3 } from './protocols/teamspeak.ts';
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

/** The protocols that we speak ourselves, by gamedig's names; gamedig speaks the others (ADR 0121). */
const OWN: Readonly<Record<string, OwnProtocol>> = {
  dayz: askA2s(INFO_REQUEST),
  fivem: askFivem,
  goldsrc: askA2s(DETAILS_REQUEST),
  gtasao: askSamp,
  hexen2: askQuake,
  minecraftbedrock: askBedrock,
  minecraftvanilla: askJava,
  quake1: askQuake,
  quake2: askQuake,
  quake3: askQuake,
  samp: askSamp,
  sdtd: askA2s(INFO_REQUEST),
  teamspeak2: askTeamspeak2,
  teamspeak3: askTeamspeak3,
  toxikk: askA2s(INFO_REQUEST),
  valve: askA2s(INFO_REQUEST),
  vcmp: askSamp,
  warsow: askQuake,
  xonotic: askQuake,
};

/** Our own implementation of a game's protocol; undefined if there is none. */
export function ownProtocol({ id, protocol }: Game): OwnProtocol | undefined {
  // Battalion 1944 has its name and counts in the answer to a second question, which gamedig asks.
  if (id === 'battalion1944') return undefined;
  return Object.hasOwn(OWN, protocol) ? OWN[protocol] : undefined;
}
