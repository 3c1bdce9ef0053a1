import type { Results } from 'gamedig';
import type { Game } from '../games/games.ts';
import type { ServerAnswer } from './ask.ts';
import { withoutControls } from './minecraft-text.ts';
import { QueryError } from './query-error.ts';

/** The contract's limits of a status report (POST …/status). */
const MOST_PLAYERS = 2_147_483_647;
const LONGEST_MOTD = 500;
const LONGEST_VERSION = 100;

/** What a server said, unchecked: any field may have any type. */
export type Said = {
  /** The message of the server, or its name. */
  name: unknown;
  version: unknown;
  /** Players without bots and adverts; undefined if the server does not say it. */
  players: unknown;
  maxPlayers: unknown;
  icon?: unknown;
};

/**
 * Brings what a server said into the limits of a status report. One odd field does not make an answer invalid.
 */
export function readAnswer(said: Said, latencyMs: number): ServerAnswer {
  return {
    onlinePlayers: countOf(said.players),
    maxPlayers: countOf(said.maxPlayers),
    latencyMs: Math.round(latencyMs * 100) / 100,
    motd: shown(said.name, LONGEST_MOTD),
    version: shown(said.version, LONGEST_VERSION),
    ...iconOf(said.icon),
  };
}

/**
 * What the results of gamedig say.
 *
 * @throws {QueryError} `answer-broken` when they say nothing: gamedig's parsers also accept a mere header
 */
export function saidBy(results: Results, { protocol }: Game): Said {
  const { name, version, numplayers, maxplayers: maxPlayers, players: list } = results;
  const players = COUNTED_BY_LIST.has(protocol) && Array.isArray(list) ? list.length : numplayers;
  if (shown(name, LONGEST_MOTD) === '' && !countOf(players) && !countOf(maxPlayers)) {
    throw new QueryError('answer-broken', 'The answer has neither a name nor players.');
  }
  return { name, version: version === 'undefined' ? '' : version, players, maxPlayers };
}

/** Protocols whose answers have a list of players and no number of them. */
const COUNTED_BY_LIST: ReadonlySet<string> = new Set(['eldewrito', 'mumble']);

/**
 * A number of players: a whole number from 0 to 2,147,483,647. Numbers may come as text (Quake), −1 means "no limit",
 * and what is out of range becomes the nearest number in it.
 *
 * @returns null when it is no number
 */
export function countOf(value: unknown): number | null {
  const isNumeral = typeof value === 'string' && /^[+-]?\d{1,30}(\.\d{1,30})?$/.test(value.trim());
  const number = isNumeral || typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) return null;
  return Math.min(Math.max(Math.floor(number), 0), MOST_PLAYERS);
}

/** In code units: a PNG of 48 KiB. A longer one is no icon. */
const LONGEST_ICON = 66_000;

function iconOf(icon: unknown): { icon?: string } {
  return typeof icon === 'string' && icon.length <= LONGEST_ICON ? { icon } : {};
}

/** Text with the limits of a report: at most `longest` code points, well-formed, only line feeds as control characters. */
function shown(text: unknown, longest: number): string {
  if (typeof text !== 'string') return '';
  const start = text.slice(0, 4 * longest).toWellFormed();
  const clean = withoutControls(start);
  return clean.length <= longest ? clean : [...clean].slice(0, longest).join('');
}
