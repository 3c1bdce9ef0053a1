import type { AddressFailure } from '../platform/address-guard.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';

/** What is asked: a server's game (an id of gamedig's list), and where it is. */
export type Target = {
  game: string;
  /** Host name or IP address. */
  host: string;
  /** The port of players. */
  port: number;
  /** The port of queries; null where the game's own rule gives it. */
  queryPort: number | null;
};

/**
 * Why a check failed.
 *
 * - `game-unknown`: gamedig's list has no such game (any more).
 * - `connection-refused`: the machine answers, but nothing listens there.
 * - `no-answer`: nothing came in time.
 * - `closed`: the connection ended before there was an answer.
 * - `answer-broken`: what came is not an answer of this game, or its counts cannot be true.
 * - `answer-too-long`: more came than any honest server sends.
 * - `outgoing-limited`: an allowance of connections is used up, so it was not asked.
 */
export type ProbeFailure =
  | AddressFailure
  | 'game-unknown'
  | 'connection-refused'
  | 'no-answer'
  | 'closed'
  | 'answer-broken'
  | 'answer-too-long'
  | 'outgoing-limited';

/** What a game server said of itself, checked and bounded as a status report is (contract, POST …/status). */
export type ServerAnswer = {
  /** 0 to 2,147,483,647; so is `maxPlayers`, where 0 means "no limit". */
  onlinePlayers: number;
  maxPlayers: number;
  /** Milliseconds; 0 is possible. */
  latencyMs: number;
  /** At most 500 characters, line feeds and § codes kept; `''` where the game has none. */
  motd: string;
  /** At most 100 characters; `''` where the game says none. */
  version: string;
};

/** How a check ended. */
export type Probe = { ok: true; answer: ServerAnswer } | { ok: false; failure: ProbeFailure; words: string };

/**
 * Asks a game server once. Never throws for anything the far end does, and ends in time.
 *
 * @param mayConnect - asked before each address and port that is tried; without it nothing is limited
 */
export type Ask = (target: Target, signal?: AbortSignal, mayConnect?: MayConnect) => Promise<Probe>;
