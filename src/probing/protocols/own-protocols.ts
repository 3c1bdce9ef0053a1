import type { Game } from '../../games/games.ts';
import type { Said } from '../read-answer.ts';
import { DETAILS_REQUEST, INFO_REQUEST } from './a2s.ts';
import { OldServers } from './old-servers.ts';
import type { OwnQuery } from './own-query.ts';
import { queryJava } from './query-java.ts';
import { queryA2s, queryBedrock } from './query-udp.ts';

/** Queries a server in a protocol of our own. Throws `QueryError`. */
export type OwnProtocol = (query: OwnQuery) => Promise<Said>;

/**
 * Creates the protocols that we implement ourselves (ADR 0121), once for a process: it remembers old Minecraft servers.
 *
 * @returns a function that gives a game's protocol, or undefined if gamedig has it
 */
export function createOwnProtocols(): (game: Game) => OwnProtocol | undefined {
  const oldServers = new OldServers();
  const a2s: OwnProtocol = (query) => queryA2s(query, INFO_REQUEST);
  const protocols: Record<string, OwnProtocol> = {
    minecraftvanilla: (query) => queryJava(query, oldServers),
    minecraftbedrock: queryBedrock,
    valve: a2s,
    dayz: a2s,
    sdtd: a2s,
    toxikk: a2s,
    goldsrc: (query) => queryA2s(query, DETAILS_REQUEST),
  };
  // Battalion 1944 has its name and counts in the answer to another question, which gamedig asks.
  return ({ id, protocol }) => (id === 'battalion1944' ? undefined : protocols[protocol]);
}
