import { type GameEntry, games } from 'gamedig';
import { editDistance } from '../platform/edit-distance.ts';
import { exactProtocol, whyNotAsked } from './protocols.ts';

/** A game of gamedig's list, with what is needed to ask a server of it. */
export type Game = {
  /** gamedig's present id, which is what we store. */
  id: string;
  name: string;
  /** The exact protocol, a name of gamedig's. */
  protocol: string;
  /** The usual port of players; null where gamedig knows none. */
  port: number | null;
  /** The port of queries of a server on the usual port; null where it is not a fixed one. */
  fixedQueryPort: number | null;
  /** What is added to the port of players; several are tried in turn. */
  queryPortOffsets: number[];
};

/** What was entered is no game that can be asked; the message is a sentence for whoever entered it. */
export class GameError extends Error {
  readonly code: 'game-unknown' | 'game-not-asked';

  constructor(code: GameError['code'], message: string) {
    super(message);
    this.name = 'GameError';
    this.code = code;
  }
}

/** The game is in no list. */
export class UnknownGameError extends GameError {
  constructor(text: string) {
    const near = nearGames(text).map(({ id, name }) => `${id} (${name})`);
    const hint = near.length > 0 ? `Near it: ${near.join(', ')}.` : 'Nothing in the list is near it.';
    super('game-unknown', `There is no game «${text}» in the list. ${hint}`);
    this.name = 'UnknownGameError';
  }
}

/** What users type and gamedig's ids, old ids and names do not cover. */
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

/** No name of a game is longer, in code units. */
const LONGEST_NAME = 100;

/** `text` as it is compared: letters and digits in lower case. */
function compared(text: string): string {
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
    name,
    protocol: exactProtocol(id, options.protocol),
    port,
    fixedQueryPort,
    queryPortOffsets: [offset].flat(),
  };
}

const LIST: Game[] = Object.entries(games).map(([id, entry]) => gameFrom(id, entry));

/** Every spelling of every game. Where two games share one, ids win over aliases, old ids and names. */
const BY_SPELLING: Map<string, Game> = spellings();

function spellings(): Map<string, Game> {
  const byId = new Map(LIST.map((game) => [game.id, game]));
  const aliases = Object.entries(ALIASES).map(([alias, id]) => {
    const game = byId.get(id);
    if (!game) throw new Error(`The alias ${alias} is of no game: gamedig has no ${id}`);
    return [alias, game] as const;
  });
  const oldIds = LIST.map((game) => [compared(games[game.id]?.extra?.old_id ?? ''), game] as const);
  const names = LIST.map((game) => [compared(game.name), game] as const);
  const found = new Map<string, Game>();
  for (const [spelling, game] of [...byId, ...aliases, ...oldIds, ...names]) {
    if (spelling !== '' && !found.has(spelling)) found.set(spelling, game);
  }
  return found;
}

/**
 * The game that is meant: by gamedig's id, an id it had earlier, its name, or what users call it.
 *
 * @throws {UnknownGameError} with near matches
 * @throws {GameError} `game-not-asked`: its servers cannot be asked by us
 */
export function gameOf(text: string): Game {
  const game = BY_SPELLING.get(text) ?? BY_SPELLING.get(compared(text));
  if (!game) throw new UnknownGameError(text);
  const reason = whyNotAsked(game.protocol);
  if (reason) {
    throw new GameError(
      'game-not-asked',
      `${game.name} servers cannot be asked: ${reason}. Leave the game out: the server then lives by its reports.`,
    );
  }
  return game;
}

/** A line of the list that users see. */
export type ListedGame = Game & {
  /** Why servers of it cannot be asked; null where they can. */
  notAsked: string | null;
};

/** The games whose id, name or other spelling holds `text`; all where there is no text. By name. */
export function listGames(text = ''): ListedGame[] {
  const sought = compared(text);
  const found = new Set([...BY_SPELLING].filter(([spelling]) => spelling.includes(sought)).map(([, g]) => g));
  return [...found]
    .map((game) => ({ ...game, notAsked: whyNotAsked(game.protocol) }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

const MOST_NEAR = 5;

function nearGames(text: string): Game[] {
  const sought = compared(text).slice(0, 50);
  if (sought === '') return [];
  const near = new Map<Game, number>();
  for (const [spelling, game] of BY_SPELLING) {
    const part = spelling.length >= 3 && (spelling.includes(sought) || sought.includes(spelling));
    const distance = part ? 1 : editDistance(sought, spelling);
    if (distance > Math.max(1, Math.floor(sought.length / 3))) continue;
    near.set(game, Math.min(distance, near.get(game) ?? distance));
  }
  return [...near]
    .toSorted(([a, distanceA], [b, distanceB]) => distanceA - distanceB || a.name.length - b.name.length)
    .slice(0, MOST_NEAR)
    .map(([game]) => game);
}
