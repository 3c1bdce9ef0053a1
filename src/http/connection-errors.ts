import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { SECOND } from '../platform/clock.ts';
import { codeOfStatus } from './error-codes.ts';
import { errorBody, SENTENCES } from './http-errors.ts';
import { lastAnswersSent } from './pipelining.ts';

type RawStatus = 400 | 408 | 413 | 431;

const STATUS_OF: Record<string, RawStatus> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const READ_TIME_MS = 2 * SECOND;

/** What the clients of these connections still send is discarded. */
const closing = new WeakSet<Socket>();

/**
 * Answers malformed or too slow requests, which Fastify never gets. If earlier requests of the connection are
 * unanswered, they are answered first: otherwise the client would take the refusal for the answer to an accepted vote.
 * Then the connection is closed, because it is unknown where the next request would begin.
 */
export function answerClientErrors(
  errorDocs?: string,
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (closing.has(socket)) return;
    closing.add(socket);
    // The rest of the request is discarded and not parsed: a vote that was answered with 408 must not be cast. Adding a
    // listener of `data` detaches Node's parser. If the socket were paused before that, `resume` would have no effect.
    // Node's listener of `end` is removed: if the client closed its side, Node would close ours before the refusal.
    socket.removeAllListeners('data');
    socket.removeAllListeners('end');
    socket.on('data', () => undefined);
    socket.pause();
    void refuseAndClose(error, socket, errorDocs);
  };
}

async function refuseAndClose(
  error: Error & { code?: string },
  socket: Socket,
  errorDocs: string | undefined,
): Promise<void> {
  await lastAnswersSent(socket);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF[error.code ?? ''] ?? 400;
  const body = JSON.stringify(
    errorBody({ sentence: SENTENCES[status], code: codeOfStatus(status) }, errorDocs),
  );
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  // If the socket were closed with unread data, the client could lose the answer.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), READ_TIME_MS);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * If a client closes its side after the request: it still gets the answer. By default, Node closes its own side at
 * once: the vote would be cast, and its answer would be lost.
 */
export function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Node's own answer to an unknown `Expect` header has no body. */
export function answerExpectations(server: Server, errorDocs: string): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response
      .writeHead(417, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
      .end(JSON.stringify(errorBody({ sentence: SENTENCES[417], code: codeOfStatus(417) }, errorDocs)));
  });
}
