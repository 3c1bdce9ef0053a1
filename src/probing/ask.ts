import type { AddressFailure } from '../platform/address-guard.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';

/** The target of a query: a server's game (an id of gamedig's list) and address. */
export type Target = {
  game: string;
  /** Host name or IP address. */
  host: string;
  /** The players' port. */
  port: number;
  /** The query port; null if the game's own rule determines it. */
  queryPort: number | null;
};

/**
 * Why a check failed.
 *
 * - `game-unknown`: gamedig's list has no such game (any more).
 * - `connection-refused`: the machine answers, but nothing listens on the port.
 * - `no-answer`: there was no answer in time.
 * - `closed`: the connection was closed before there was an answer.
 * - `answer-broken`: the data is not an answer of this game.
 * - `answer-too-long`: the answer is longer than that of any real server.
 * - `outgoing-limited`: an allowance of connections is used up, so the server was not queried.
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

/** A game server's answer, validated with the limits of a status report (schema of `POST …/status`). */
export type ServerAnswer = {
  /** 0 to 2,147,483,647; null if the server hides its number of players or does not say it. */
  onlinePlayers: number | null;
  /** 0 to 2,147,483,647, in which 0 means "no limit"; null if it is unknown. */
  maxPlayers: number | null;
  /** Milliseconds; 0 is possible. */
  latencyMs: number;
  /** At most 500 characters, with line feeds and § codes; `''` if the game has none. */
  motd: string;
  /** At most 100 characters; `''` if the answer has none. */
  version: string;
  /** A Minecraft server's icon as it sends it: a data URL of a PNG; absent if the answer has none. */
  icon?: string;
};

/** The result of a check. */
export type Probe =
  | { ok: true; answer: ServerAnswer }
  | { ok: false; failure: ProbeFailure; message: string };

/**
 * Queries a game server once. Never throws for errors of the server, and ends in limited time.
 *
 * @param mayConnect - called before each connection; without it connections are not limited
 */
export type Ask = (target: Target, signal?: AbortSignal, mayConnect?: MayConnect) => Promise<Probe>;
