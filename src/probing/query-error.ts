import { GameError } from '../games/games.ts';
import { AddressError, isRefusedPort } from '../platform/address-guard.ts';
import { CodedError } from '../platform/app-error.ts';
import type { Probe, ProbeFailure } from './ask.ts';

/** The message is a sentence for the server's owner. */
export class QueryError extends CodedError<ProbeFailure> {}

/** Called where a connection is opened, so that it applies to every port, wherever it comes from. */
export function requireAllowedPort(port: number): void {
  if (isRefusedPort(port)) throw new QueryError('address-refused', `Port ${port} is never queried.`);
}

export const hostSaysStopped = () =>
  new QueryError(
    'host-says-stopped',
    'The host answers in place of the server and says that it is not running: it is offline, sleeping or starting.',
  );

export const outgoingLimited = () =>
  new QueryError(
    'outgoing-limited',
    'The server was not queried: there were too many connections in the last minute, to an address that has not answered or from one account. Try again in a minute.',
  );

export function socketError(error: unknown, where: string): QueryError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ECONNREFUSED':
      return new QueryError('connection-refused', `Nothing listens on ${where}.`);
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return new QueryError('closed', `The connection to ${where} was closed before there was an answer.`);
    // This machine has no sockets or memory left.
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOBUFS':
    case 'ENOMEM':
      return new QueryError(
        'stopped',
        `The check could not be made: this machine is out of sockets (${code}).`,
      );
    // The HTTP parser or TLS: the service speaks another protocol.
    case 'EPROTO':
      return new QueryError('answer-broken', `What listens on ${where} does not speak the game's protocol.`);
    default:
      return code.startsWith('HPE_')
        ? new QueryError('answer-broken', `What listens on ${where} does not speak the game's protocol.`)
        : new QueryError('no-answer', `${where} cannot be reached${code === '' ? '' : ` (${code})`}.`);
  }
}

/** An error of any other class: a parser could not read the answer. */
export function failedProbe(error: unknown): Probe {
  if (error instanceof QueryError) return { ok: false, failure: error.code, message: error.message };
  if (error instanceof AddressError) return { ok: false, failure: error.code, message: `${error.message}.` };
  if (error instanceof GameError) return { ok: false, failure: 'game-unknown', message: error.message };
  return { ok: false, failure: 'answer-broken', message: 'The data received is not an answer of this game.' };
}
