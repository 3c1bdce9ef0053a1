import type { AddressFailure } from '../platform/address-guard.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';

/** What is queried: a server's game (an id of gamedig's list) and its address. */
export type Target = {
  game: string;
  /** Host name or IP address. */
  host: string;
  /** The players' port. */
  port: number;
  /** Null if the game's own rule determines the port. */
  queryPort: number | null;
};

/**
 * Why a check failed.
 *
 * - `game-unknown`: the game is not in gamedig's list.
 * - `connection-refused`: the machine answers, but nothing listens on the port.
 * - `no-answer`: there was no answer in time, or the address cannot be reached.
 * - `closed`: the connection was closed before there was an answer.
 * - `answer-broken`: the data is not an answer of this game.
 * - `answer-too-long`: the answer is longer than that of any real server.
 * - `host-says-stopped`: the host answers in place of a server that it has stopped.
 * - `outgoing-limited`: a limit of connections was reached, so the server was not queried at every address and port.
 */
export type ProbeFailure =
  | AddressFailure
  | 'game-unknown'
  | 'connection-refused'
  | 'no-answer'
  | 'closed'
  | 'answer-broken'
  | 'answer-too-long'
  | 'host-says-stopped'
  | 'outgoing-limited';

/** A game server's answer, cut to the limits of a status report (schema of `POST …/status`). */
export type ServerAnswer = {
  /** 0 to 2,147,483,647; null if the server hides the number or does not send it. */
  onlinePlayers: number | null;
  /** 0 to 2,147,483,647, where 0 means "no limit"; null if it is unknown. */
  maxPlayers: number | null;
  /** In milliseconds; may be 0. */
  latencyMs: number;
  /** At most 500 characters, with line feeds and § codes; `''` if the answer has none. */
  motd: string;
  /** At most 100 characters; `''` if the answer has none. */
  version: string;
  /** A Minecraft server's icon as the server sends it: a data URL of a PNG; absent if the answer has none. */
  icon?: string;
};

export type Probe =
  | { ok: true; answer: ServerAnswer }
  | { ok: false; failure: ProbeFailure; message: string };

/**
 * Queries a game server once. Never throws for errors of the server, and ends in limited time.
 *
 * @param mayConnect - called before each address and port, and before each further connection of Minecraft Java; if
 *   absent, connections are not limited
 */
export type Ask = (target: Target, signal?: AbortSignal, mayConnect?: MayConnect) => Promise<Probe>;
