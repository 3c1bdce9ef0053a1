import { nameKindOf } from '../../games/player-names.ts';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';

type Settings = Pick<Config, 'STEAM_SIGN_IN'>;

/** Whether the vote form of a server offers to sign in through Steam: its game asks for a SteamID. */
export function offersSteam({ STEAM_SIGN_IN }: Settings, { game }: Pick<Server, 'game'>): boolean {
  return STEAM_SIGN_IN === 'on' && nameKindOf(game) === 'steam';
}

/**
 * Whether the vote form of a server takes only SteamIDs that Steam confirmed. If the listing offers no sign-in through
 * Steam, it takes all: otherwise nobody could vote.
 */
export function needsProvenId(config: Settings, server: Pick<Server, 'game' | 'provenIdOnly'>): boolean {
  return server.provenIdOnly === true && offersSteam(config, server);
}
