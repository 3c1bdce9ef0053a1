import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { SENTENCES } from './http-errors.ts';
import { answersSent } from './pipelining.ts';

type RawStatus = 400 | 408 | 413 | 431;

const STATUS_OF: Record<string, RawStatus> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Connections on which no request can begin any more. */
const ended = new WeakSet<Socket>();

/**
 * Answers what is no HTTP request, or comes too slowly, on the bare connection: Fastify never sees it. What was asked
 * before is answered first: a vote that was accepted must not look refused. Then the connection is closed, because
 * nobody knows where the next request would begin.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  if (ended.has(socket)) return;
  ended.add(socket);
  socket.pause();
  void refuseAndClose(error, socket);
}

async function refuseAndClose(error: Error & { code?: string }, socket: Socket): Promise<void> {
  await answersSent(socket);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF[error.code ?? ''] ?? 400;
  const body = JSON.stringify({ error: SENTENCES[status] });
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
  // What still comes is thrown away until the other side closes: with it unread, the answer might be lost.
  socket.resume();
}

/**
 * Answers a client that closes its side once it has sent its request, as simple ones do: Node would close the other
 * side at once, with the vote cast and its answer lost.
 */
export function answerHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Gives the answers that Node makes by itself, with an empty body, the shape that all our errors have. */
export function answerExpectations(server: Server): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response
      .writeHead(417, { 'content-type': 'application/json; charset=utf-8', connection: 'close' })
      .end(JSON.stringify({ error: SENTENCES[417] }));
  });
}
