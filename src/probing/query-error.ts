import { GameError } from '../games/games.ts';
import { AddressError, isRefusedPort } from '../platform/address-guard.ts';
import type { Probe, ProbeFailure } from './ask.ts';

/** A query that ended without an answer. */
export class QueryError extends Error {
  readonly failure: ProbeFailure;

  /** @param message - a sentence for the server's owner */
  constructor(failure: ProbeFailure, message: string) {
    super(message);
    this.name = 'QueryError';
    this.failure = failure;
  }
}

/**
 * Holds the rule of refused ports where a connection is opened, whatever the port was derived from.
 *
 * @throws {QueryError} `address-refused`
 */
export function requireAskedPort(port: number): void {
  if (isRefusedPort(port)) throw new QueryError('address-refused', `Nothing is ever asked at port ${port}.`);
}

/** What an error of the operating system, on a socket of a query, says of the server. */
export function socketError(error: unknown, where: string): QueryError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ECONNREFUSED':
      return new QueryError('connection-refused', `Nothing listens on ${where}.`);
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return new QueryError('closed', `The connection to ${where} was closed before there was an answer.`);
    // This machine is short of sockets or memory; the server has no part in it.
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOBUFS':
    case 'ENOMEM':
      return new QueryError(
        'stopped',
        `The check could not be made: this machine is out of sockets (${code}).`,
      );
    // An HTTP parser's, or TLS's: something answers there, and not as this game does.
    case 'EPROTO':
      return new QueryError('answer-broken', `What listens on ${where} does not speak the game's protocol.`);
    default:
      return code.startsWith('HPE_')
        ? new QueryError('answer-broken', `What listens on ${where} does not speak the game's protocol.`)
        : new QueryError('no-answer', `${where} cannot be reached${code === '' ? '' : ` (${code})`}.`);
  }
}

/** How a check that threw ended. What a parser of gamedig throws means that it could not read the answer. */
export function failedProbe(error: unknown): Probe {
  if (error instanceof QueryError) return { ok: false, failure: error.failure, words: error.message };
  if (error instanceof AddressError) return { ok: false, failure: error.code, words: `${error.message}.` };
  if (error instanceof GameError) return { ok: false, failure: 'game-unknown', words: error.message };
  return { ok: false, failure: 'answer-broken', words: 'What came back is not an answer of this game.' };
}
