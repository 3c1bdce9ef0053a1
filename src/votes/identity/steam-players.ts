import { nameKindOf } from '../../games/player-names.ts';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';

type Settings = Pick<Config, 'STEAM_SIGN_IN'>;

export function offersSteam({ STEAM_SIGN_IN }: Settings, { game }: Pick<Server, 'game'>): boolean {
  return STEAM_SIGN_IN === 'on' && nameKindOf(game) === 'steam';
}

/** Only SteamIDs that Steam confirmed. Without a sign-in through Steam nobody could vote then. */
export function needsProvenId(config: Settings, server: Pick<Server, 'game' | 'provenIdOnly'>): boolean {
  return server.provenIdOnly === true && offersSteam(config, server);
}
