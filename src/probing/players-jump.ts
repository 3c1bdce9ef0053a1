import { DAY } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';

/** A jump is shown to operators for this long. */
export const JUMP_SHOWN_MS = 7 * DAY;

/** A server with fewer players than this has not jumped. */
const FEWEST_PLAYERS = 100;
/** How many times the usual number of players is a jump. */
export const JUMP_TIMES = 10;

/**
 * Whether a check found more than ten times the usual players of a server; those of a new server are none. A game server
 * can tell any number, so operators look at such servers.
 *
 * @returns the field of the server to set; empty if the number is nothing new, or the usual one is not computed yet
 */
export function jumpedPlayers(
  { daily: { usualPlayers: usual } }: Pick<Server, 'daily'>,
  players: number,
  now: Date,
): { playersJumped?: NonNullable<Server['playersJumped']> } {
  const isJump = typeof usual === 'number' && players >= FEWEST_PLAYERS && players > JUMP_TIMES * usual;
  return isJump ? { playersJumped: { at: now, players, usual } } : {};
}
