import type { Results } from 'gamedig';
import type { Game } from '../games/games.ts';
import type { ServerAnswer } from './ask.ts';
import { legacyText, withoutControls } from './minecraft-text.ts';
import { QueryError } from './query-error.ts';

/** The limits of a status report (`/docs`, POST …/status). */
const MOST_PLAYERS = 2_147_483_647;
const LONGEST_MOTD = 500;
const LONGEST_VERSION = 100;

/**
 * Validates an answer: gamedig's parsers also accept data that is not an answer.
 *
 * @throws {QueryError} `answer-broken` when the answer is impossible
 */
export function readAnswer(results: Results, game: Game, latencyMs: number): ServerAnswer {
  const { motd, version } = textsOf(results, game);
  const answer = {
    onlinePlayers: players(results),
    maxPlayers: count(results.maxplayers, 'limit of players'),
    latencyMs: Math.round(latencyMs * 100) / 100,
    motd: shown(motd, LONGEST_MOTD),
    version: shown(version, LONGEST_VERSION),
    ...iconOf(results, game),
  };
  // Only a header, or only zeros. For Minecraft the parser fails without counts.
  const isEmpty = answer.motd === '' && answer.onlinePlayers === 0 && answer.maxPlayers === 0;
  if (isEmpty && game.protocol !== 'minecraftvanilla') {
    throw new QueryError('answer-broken', 'The answer has neither a name nor players.');
  }
  return answer;
}

/** Some protocols give a list of players and no count of them. */
function players({ numplayers, players: list }: Results): number {
  const online = count(numplayers, 'number of players');
  return online === 0 && Array.isArray(list) ? list.length : online;
}

/** Numbers may come as text (Quake); −1 is "no limit". */
function count(value: unknown, what: string): number {
  const number = typeof value === 'string' && /^-?\d{1,10}$/.test(value.trim()) ? Number(value) : value;
  if (number === -1) return 0;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > MOST_PLAYERS) {
    throw new QueryError('answer-broken', `The answer has no possible ${what}.`);
  }
  return number;
}

function textsOf({ name, version, raw }: Results, { protocol }: Game): { motd: unknown; version: unknown } {
  if (protocol !== 'minecraftvanilla') return { motd: name, version: version === 'undefined' ? '' : version };
  const { description, version: edition } = raw as { description?: unknown; version?: { name?: unknown } };
  return { motd: legacyText(description), version: edition?.name };
}

/** In code units: a PNG of 48 KiB. A longer one is no icon. */
const LONGEST_ICON = 66_000;

function iconOf({ raw }: Results, { protocol }: Game): { icon?: string } {
  if (protocol !== 'minecraftvanilla') return {};
  const { favicon } = raw as { favicon?: unknown };
  return typeof favicon === 'string' && favicon.length <= LONGEST_ICON ? { icon: favicon } : {};
}

/** Text with the limits of a report: at most `longest` code points, well-formed, only line feeds as control characters. */
function shown(text: unknown, longest: number): string {
  if (typeof text !== 'string') return '';
  const start = text.slice(0, 4 * longest).toWellFormed();
  const clean = withoutControls(start);
  return clean.length <= longest ? clean : [...clean].slice(0, longest).join('');
}
