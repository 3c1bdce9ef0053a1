import { after, DAY } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';

/** A jump is shown to operators for this long. */
export const JUMP_SHOWN_MS = 7 * DAY;

/** A server with fewer players than this has not jumped. */
const FEWEST_PLAYERS = 100;
/** How many times the usual number of players is a jump. */
const TIMES_USUAL = 10;
/** The usual number is known if our figures know the players of at least this many of the last seven days. */
const FEWEST_DAYS = 4;

/**
 * Whether a check found more than ten times the players that the server usually has: the median of the daily averages
 * of the last seven days. A server can tell any number, so operators look at such servers.
 *
 * @returns the field of the server to set; empty if the number is nothing new
 */
export function jumpedPlayers(
  { daily }: Pick<Server, 'daily'>,
  players: number,
  now: Date,
): { playersJumped?: NonNullable<Server['playersJumped']> } {
  const days = (daily.players ?? []).filter((one) => one !== null).toSorted((a, b) => a - b);
  const usual = days[Math.floor(days.length / 2)] ?? 0;
  const isJump = days.length >= FEWEST_DAYS && players >= FEWEST_PLAYERS && players > TIMES_USUAL * usual;
  return isJump ? { playersJumped: { at: now, players, usual } } : {};
}

/** The filter of servers whose players jumped lately. */
export function jumpedLately(now: Date) {
  return { 'playersJumped.at': { $gt: after(now, -JUMP_SHOWN_MS) } };
}
