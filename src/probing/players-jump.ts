import { DAY } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';

/** Operators see a jump for so long. */
export const JUMP_SHOWN_MS = 7 * DAY;

/** Fewer are no jump. */
const FEWEST_PLAYERS = 100;
/** A number of players jumps if it is so many times the usual one. */
export const JUMP_TIMES = 10;

/** A game server can tell any number, so operators look at such servers. A new one usually has no players. */
export function jumpedPlayers(
  { daily: { usualPlayers: usual } }: Pick<Server, 'daily'>,
  players: number,
  now: Date,
): { playersJumped?: NonNullable<Server['playersJumped']> } {
  const isJump = typeof usual === 'number' && players >= FEWEST_PLAYERS && players > JUMP_TIMES * usual;
  return isJump ? { playersJumped: { at: now, players, usual } } : {};
}
