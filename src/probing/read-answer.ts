import type { Results } from 'gamedig';
import type { Game } from '../games/games.ts';
import { textFormatOf } from '../games/text-formats.ts';
import type { ServerAnswer } from './ask.ts';
import { withoutControls } from './minecraft-text.ts';
import { QueryError } from './query-error.ts';

/** Of a status report (schema of `POST …/status`). */
export const MOST_PLAYERS = 2_147_483_647;
const LONGEST_MOTD = 500;
const LONGEST_VERSION = 100;

/** Any field may have any type. */
export type UncheckedAnswer = {
  /** The name of the server, or its message. */
  name: unknown;
  version: unknown;
  /** Players without bots and adverts. */
  players: unknown;
  maxPlayers: unknown;
  icon?: unknown;
};

/** One wrong field does not make the answer invalid. */
export function readServerAnswer(said: UncheckedAnswer, game: Game, latencyMs: number): ServerAnswer {
  const { shown } = textFormatOf(game);
  const version = reportText(said.version, LONGEST_VERSION);
  return {
    onlinePlayers: countOf(said.players),
    maxPlayers: countOf(said.maxPlayers),
    latencyMs: Math.round(latencyMs * 100) / 100,
    motd: reportText(said.name, LONGEST_MOTD, shown),
    version: isHash(version) ? '' : version,
    ...iconOf(said.icon),
  };
}

/** A commit or a checksum, hexadecimal or a negative number, tells players nothing. */
function isHash(version: string): boolean {
  const isHex = /^(?=(?:.*[a-f]){2})(?=(?:.*\d){2})[\da-f]{7,128}$/i.test(version.replaceAll('-', ''));
  return isHex || /^-\d+$/.test(version);
}

/** @throws {QueryError} `answer-broken` when the results are empty: some of gamedig's parsers accept a mere header */
export function saidBy(results: Results, game: Game): UncheckedAnswer {
  const said = saidUnchecked(results, game);
  if (reportText(said.name, LONGEST_MOTD) === '' && !countOf(said.players) && !countOf(said.maxPlayers)) {
    throw new QueryError('answer-broken', 'The answer has neither a name nor players.');
  }
  return said;
}

function saidUnchecked(results: Results, { protocol }: Game): UncheckedAnswer {
  const { name, version, numplayers, maxplayers: maxPlayers, players: list, raw } = results;
  const players = COUNTED_BY_LIST.has(protocol) && Array.isArray(list) ? list.length : numplayers;
  if (GAMESPY.has(protocol)) {
    const { numplayers: number } = Object(raw) as { numplayers?: unknown };
    return { name, version, players: countOf(number) ?? players, maxPlayers };
  }
  return { name, version: version === 'undefined' ? '' : version, players, maxPlayers };
}

/** Their answers have a list of players but no number, or (Doom 3) a number that includes bots. */
const COUNTED_BY_LIST: ReadonlySet<string> = new Set(['doom3', 'eldewrito', 'mumble']);

/** gamedig counts the list of players, which may be cut: the number in the answer is used. */
const GAMESPY: ReadonlySet<string> = new Set(['gamespy1', 'gamespy2']);

/** Also text (Quake). A whole number from 0 to 2,147,483,647: −1 ("no limit") becomes 0. Null if it is no number. */
export function countOf(value: unknown): number | null {
  const isNumeral = typeof value === 'string' && /^[+-]?\d{1,30}(\.\d{1,30})?$/.test(value.trim());
  const number = isNumeral || typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) return null;
  return Math.min(Math.max(Math.floor(number), 0), MOST_PLAYERS);
}

/** If there are more bots than players, the game counts people alone, as Counter-Strike and Steam's relay do. */
export function peopleAmong(players: number, bots: number): number {
  return players < bots ? players : players - bots;
}

/** In UTF-16 code units: a PNG of 48 KiB. */
const LONGEST_ICON = 66_000;

function iconOf(icon: unknown): { icon?: string } {
  return typeof icon === 'string' && icon.length <= LONGEST_ICON ? { icon } : {};
}

/**
 * Code points, well-formed, with line feeds as the only control characters. `format` removes what players do not see.
 */
function reportText(
  text: unknown,
  longest: number,
  format: (text: string) => string = (text) => text,
): string {
  if (typeof text !== 'string') return '';
  const start = text.slice(0, 4 * longest).toWellFormed();
  const clean = withoutControls(format(start));
  return clean.length <= longest ? clean : [...clean].slice(0, longest).join('');
}

const STATE =
  '(?:offline|sleeping|preparing|loading|starting(?: up)?|restarting|waiting in queue|saving|stopping|stopped|crashed|hibernating)';
/** `● Offline`. */
const ONLY = new RegExp(`^${STATE}$`);
/** `This server is offline.` */
const SENTENCE = new RegExp(`^(?:(?:this|the|your) )?server (?:is )?(?:currently |now )?${STATE}(?: |$)`);

/** lazymc, which starts a server when somebody joins, tells the server's places. */
const LAZYMC =
  /^server (?:is sleeping join to start it up|is starting please wait|going to sleep please wait)$/;

/** As Aternos and others answer: no players of no places, and a version or message that is a state. */
export function isStoppedHost({
  onlinePlayers,
  maxPlayers,
  motd,
  version,
}: Pick<ServerAnswer, 'onlinePlayers' | 'maxPlayers' | 'motd' | 'version'>): boolean {
  if (onlinePlayers) return false;
  if (LAZYMC.test(wordsOf(motd))) return true;
  if (maxPlayers) return false;
  return [motd, version].map(wordsOf).some((text) => ONLY.test(text) || SENTENCE.test(text));
}

/** Without colours, signs and capitals. */
function wordsOf(text: string): string {
  return text
    .replace(/§./g, '')
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim();
}
