import type { WithId } from 'mongodb';
import { editionOf } from '../../games/editions.ts';
import { BEDROCK_PREFIX, NAME_RULES, type NameOptions, nameKindOfServer } from '../../games/player-names.ts';
import { steamIdOf } from '../../games/steam-ids.ts';
import { t } from '../../language/t.ts';
import { isMailAddress, mailAddressRefusal } from '../../platform/text.ts';
import type { Server } from '../../servers/server.ts';
import { readNewestVotes } from '../cast/cooldown.ts';
import type { VotesDeps } from '../deps.ts';
import { usernameKey, usernameSchema } from '../username.ts';
import { offersSteam } from './steam-players.ts';

export type NamesOfServer = Pick<Server, 'game' | 'second' | 'bedrockPrefix' | 'playerNames'>;
type NamedServer = WithId<NamesOfServer>;

/**
 * A server of Bedrock Edition with a second address of Java Edition takes gamertags as before, until its owner chooses
 * how Floodgate makes the names.
 */
export function nameOptionsOf({ game, bedrockPrefix, playerNames }: NamesOfServer): NameOptions {
  const isChosen = typeof bedrockPrefix === 'string' || playerNames;
  const plain = editionOf(game) === 'bedrock' && !isChosen;
  const { offlineMode, bedrockPlain = plain, bedrockSpaces = plain } = playerNames ?? {};
  return {
    bedrockPrefix: bedrockPrefix ?? BEDROCK_PREFIX,
    offlineMode: offlineMode === true,
    bedrockPlain: bedrockPlain === true,
    bedrockSpaces: bedrockSpaces === true,
  };
}

/** For a name of another server. SteamIDs fit only games that ask for them. */
export function fitsServer(server: NamesOfServer, name: string): boolean {
  if (isMailAddress(name)) return false;
  const kind = nameKindOfServer(server);
  const isSteamId = steamIdOf(name).kind === 'id';
  if (isSteamId || kind === 'steam') return isSteamId && kind === 'steam';
  const read = NAME_RULES[kind].read(name, nameOptionsOf(server));
  return 'name' in read || read.mayBeOlder;
}

/**
 * The spelling that is stored for a name as typed, or a sentence for the player. A name that the game's rule refuses is
 * accepted if the server has a vote under it (`mayBeOlder`). A mail address is refused in every game.
 */
export async function readPlayerName(
  deps: VotesDeps,
  server: NamedServer,
  typed: string,
): Promise<{ name: string } | { error: string }> {
  const rule = NAME_RULES[nameKindOfServer(server)];
  // The rule checks a text that is cut faster.
  const text = typed.trim().slice(0, 2 * rule.longest + 2);
  if (text === '') return { error: t('Enter the name of your player.') };
  if (isMailAddress(text)) return { error: mailAddressRefusal() };
  const options = { ...nameOptionsOf(server), offersSteam: offersSteam(deps.config, server) };
  const read = rule.read(text, options);
  if ('name' in read) return parsed(read.name);
  if (!read.mayBeOlder) return { error: read.error };
  const player = { serverId: server._id, usernameKey: usernameKey(text) };
  const { live, imported } = await readNewestVotes(deps, player);
  return live || imported ? parsed(text) : { error: read.error };
}

function parsed(name: string): { name: string } | { error: string } {
  const { data, error } = usernameSchema.safeParse(name);
  return data === undefined ? { error: error?.issues[0]?.message ?? '' } : { name: data };
}
