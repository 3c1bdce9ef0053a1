import type { GameEntry } from 'gamedig';
import { t } from '../language/t.ts';
import { isRefusedPort } from '../platform/address-guard.ts';
import { CodedError } from '../platform/app-error.ts';
import { editDistance } from '../platform/edit-distance.ts';
import { exactProtocol, whyNotQueried } from './protocols.ts';

// Only the list: the whole package would also load its protocols and an HTTP client.
const { games }: { games: Record<string, GameEntry> } = await import(
  new URL('games.js', import.meta.resolve('gamedig')).href
);

export type Game = {
  /** gamedig's current id, which is stored. */
  id: string;
  name: string;
  protocol: string;
  /** The port for players; null if gamedig has none. */
  port: number | null;
  /** On the usual port; null if there is no fixed one. */
  fixedQueryPort: number | null;
  /** Offsets from the players' port to the query port; they are tried in order. */
  queryPortOffsets: number[];
};

/** The message is a sentence for the user. */
export class GameError extends CodedError<'game-unknown' | 'game-not-asked'> {}

function unknownGame(text: string): GameError {
  const similar = similarGames(text).map(({ id, name }) => `${id} (${name})`);
  const hint = similar.length > 0 ? `Similar: ${similar.join(', ')}.` : t('No game in the list is similar.');
  return new GameError('game-unknown', t('There is no game “{text}” in the list. {hint}', { text, hint }));
}

/** In addition to gamedig's id, old id and name. */
const ALIASES: Record<string, string> = {
  mc: 'minecraft',
  minecraftjava: 'minecraft',
  minecraftjavaedition: 'minecraft',
  java: 'minecraft',
  spigot: 'minecraft',
  paper: 'minecraft',
  bedrock: 'mbe',
  minecraftbedrock: 'mbe',
  mcpe: 'mbe',
  pocketedition: 'mbe',
  cs: 'counterstrike16',
  cs16: 'counterstrike16',
  counterstrike: 'counterstrike16',
  counterstrikesource: 'css',
  cs2: 'counterstrike2',
  tf2: 'teamfortress2',
  gmod: 'garrysmod',
  ark: 'ase',
  q3: 'q3a',
  quake3: 'q3a',
  ut2004: 'unrealtournament2004',
  ut3: 'unrealtournament3',
  terraria: 'terrariatshock',
  tshock: 'terrariatshock',
  fivem: 'gta5f',
  gta5: 'gta5f',
  samp: 'gtasam',
  ts3: 'teamspeak3',
  '7dtd': 'sdtd',
  sevendaystodie: 'sdtd',
};

/** Names that gamedig writes in lower case. */
const NAMES: Record<string, string> = { enshrouded: 'Enshrouded', unturned: 'Unturned' };

/** In UTF-16 code units. Longer input is cut; no game has a longer name. */
const LONGEST_NAME = 100;

function normalized(text: string): string {
  return text
    .slice(0, LONGEST_NAME)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

function gameFrom(id: string, { name, options }: GameEntry): Game {
  const { port = null, port_query: fixedQueryPort = null, port_query_offset: offset = [] } = options;
  return {
    id,
    name: NAMES[id] ?? name,
    protocol: exactProtocol(id, options.protocol),
    port,
    fixedQueryPort,
    queryPortOffsets: [offset].flat(),
  };
}

const LIST: Game[] = Object.entries(games).map(([id, entry]) => gameFrom(id, entry));

/** If two games share a spelling, the first of these wins: id, alias, old id, name. */
const BY_SPELLING: Map<string, Game> = spellings();

function spellings(): Map<string, Game> {
  const byId = new Map(LIST.map((game) => [game.id, game]));
  const aliases = Object.entries(ALIASES).map(([alias, id]) => {
    const game = byId.get(id);
    if (!game) throw new Error(`The alias ${alias} has no game: gamedig has no ${id}`);
    return [alias, game] as const;
  });
  const oldIds = LIST.map((game) => [normalized(games[game.id]?.extra?.old_id ?? ''), game] as const);
  const names = LIST.map((game) => [normalized(game.name), game] as const);
  const found = new Map<string, Game>();
  for (const [spelling, game] of [...byId, ...aliases, ...oldIds, ...names]) {
    if (spelling !== '' && !found.has(spelling)) found.set(spelling, game);
  }
  return found;
}

/**
 * By gamedig's id, an earlier id, the name, or a common alias.
 *
 * @throws {GameError} `game-unknown` with similar games
 */
export function knownGame(text: string): Game {
  const game = BY_SPELLING.get(text) ?? BY_SPELLING.get(normalized(text));
  if (!game) throw unknownGame(text);
  return game;
}

/** gamedig may have renamed the game; undefined if it is not in the list. */
export function storedGameId(game: string): string | undefined {
  return BY_SPELLING.get(game)?.id;
}

/** False without a game; true if the game is not in the list. */
export function isProbed(game: string | null | undefined): boolean {
  return Boolean(game) && whyNotProbed(game) === null;
}

/** Null if they can be queried, or if the game is absent or not in the list. */
export function whyNotProbed(game: string | null | undefined): string | null {
  const known = game ? BY_SPELLING.get(game) : undefined;
  return known ? whyNotQueried(known.protocol) : null;
}

/** Undefined if the stored id is not in the list. */
export function findGame(id: string): Game | undefined {
  return BY_SPELLING.get(id);
}

/**
 * Like `knownGame`, but also refuses a game whose servers cannot be queried.
 *
 * @throws {GameError} `game-unknown` with similar games; `game-not-asked` if its servers cannot be queried
 */
export function gameOf(text: string): Game {
  const game = knownGame(text);
  const reason = whyNotQueried(game.protocol);
  if (reason) {
    throw new GameError(
      'game-not-asked',
      t('{game} servers cannot be queried: {reason}.', { game: game.name, reason }),
    );
  }
  return game;
}

/** `notAsked`: null if its servers can be queried. */
export type ListedGame = Game & { notAsked: string | null };

/**
 * By a part of the id, name or another spelling, sorted by name. All games if `text` has no letter from a to z and no
 * digit.
 */
export function listGames(text = ''): ListedGame[] {
  const sought = normalized(text);
  const found = new Set([...BY_SPELLING].filter(([spelling]) => spelling.includes(sought)).map(([, g]) => g));
  return [...found]
    .map((game) => ({ ...game, notAsked: whyNotQueried(game.protocol) }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

const MOST_SIMILAR = 5;

function similarGames(text: string): Game[] {
  const sought = normalized(text).slice(0, 50);
  if (sought === '') return [];
  const similar = new Map<Game, number>();
  for (const [spelling, game] of BY_SPELLING) {
    const part = spelling.length >= 3 && (spelling.includes(sought) || sought.includes(spelling));
    const distance = part ? 1 : editDistance(sought, spelling);
    if (distance > Math.max(1, Math.floor(sought.length / 3))) continue;
    similar.set(game, Math.min(distance, similar.get(game) ?? distance));
  }
  return [...similar]
    .toSorted(([a, distanceA], [b, distanceB]) => distanceA - distanceB || a.name.length - b.name.length)
    .slice(0, MOST_SIMILAR)
    .map(([game]) => game);
}

/**
 * The most likely first. If the owner set a query port, only this one. Otherwise gamedig's rule applies
 * (lib/QueryRunner.js): a fixed port if players use the usual one, the players' port plus the game's offsets, and the
 * players' port itself.
 */
export function queryPorts({ port, queryPort }: { port: number; queryPort: number | null }, game: Game) {
  if (queryPort !== null) return isRefusedPort(queryPort) ? [] : [queryPort];
  const fixed = port === game.port && game.fixedQueryPort !== null ? [game.fixedQueryPort] : [];
  const offset = game.queryPortOffsets.map((difference) => port + difference);
  const ports = [...fixed, ...offset, port].filter((candidate) => candidate >= 1 && candidate <= 65_535);
  return [...new Set(ports)].filter((candidate) => !isRefusedPort(candidate));
}
