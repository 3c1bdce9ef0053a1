import type { Server } from '../../servers/server.ts';
import { votesBySteamId } from '../../votes/claims/steam-games.ts';

/** The kind of name that a server's players vote with. A browser remembers one name of each kind. */
export function nameKind({ game }: Pick<Server, 'game'>): 'name' | 'steam' {
  return votesBySteamId(game) ? 'steam' : 'name';
}
