import type { AddressFailure } from '../platform/address-guard.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';

export type Target = {
  game: string;
  /** A name or an IP address. */
  host: string;
  /** The players' port. */
  port: number;
  /** Null if the game's own rule determines it. */
  queryPort: number | null;
};

/**
 * Why a check failed. `closed`: before there was an answer. `answer-broken`: not an answer of this game.
 * `answer-too-long`: longer than that of any real server. `host-says-stopped`: the host answers in place of the server.
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

/** Cut to the limits of a status report (schema of `POST …/status`). */
export type ServerAnswer = {
  /** 0 to 2,147,483,647; null if hidden or not sent. */
  onlinePlayers: number | null;
  /** 0 to 2,147,483,647, where 0 means "no limit"; null if unknown. */
  maxPlayers: number | null;
  /** In milliseconds; may be 0. */
  latencyMs: number;
  /** At most 500 characters, with line feeds and § codes. */
  motd: string;
  /** At most 100 characters. */
  version: string;
  /** Of Minecraft: a data URL of a PNG. */
  icon?: string;
};

/** `ip`: the address that answered. */
export type Probe =
  | { ok: true; answer: ServerAnswer; ip?: string }
  | { ok: false; failure: ProbeFailure; message: string };

/**
 * Queries a game server once, in limited time. Never throws for errors of the server. `mayConnect` is called before
 * each address and port, and before each further connection of Minecraft Java.
 */
export type Ask = (target: Target, signal?: AbortSignal, mayConnect?: MayConnect) => Promise<Probe>;
