import { nameKindOf } from '../../games/player-names.ts';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';

type Settings = Pick<Config, 'STEAM_SIGN_IN'>;

/** Whether a server's vote form offers to sign in through Steam: the setting is on, and the game asks for a SteamID. */
export function offersSteam({ STEAM_SIGN_IN }: Settings, { game }: Pick<Server, 'game'>): boolean {
  return STEAM_SIGN_IN === 'on' && nameKindOf(game) === 'steam';
}

/**
 * Whether a server's vote form accepts only SteamIDs that Steam confirmed. If the listing offers no sign-in through
 * Steam: the form accepts any SteamID, because otherwise nobody could vote.
 */
export function needsProvenId(config: Settings, server: Pick<Server, 'game' | 'provenIdOnly'>): boolean {
  return server.provenIdOnly === true && offersSteam(config, server);
}
