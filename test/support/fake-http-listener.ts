import { readFileSync } from 'node:fs';
import http, { type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { Server, Socket } from 'node:net';
import tls from 'node:tls';
import { onTestFinished } from 'vitest';
import { atTheEnd } from './at-the-end.ts';

/** A request that an HTTP listener received. */
export type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

/** A website that accepts votes. It runs until the test ends. */
export type HttpListener = {
  port: number;
  /** The received requests, in order. */
  received: Received[];
  /** Answers a request; by default with 204. */
  answer: (response: ServerResponse, received: Received) => void;
  /** The number of received challenges. They are not in `received`. */
  challenges: number;
  /** Answers a challenge; by default with the challenge itself. */
  answerChallenge: (response: ServerResponse, challenge: string) => void;
};

type Options = {
  /** The name of its certificate in test/support/certificates. Without one it uses plain HTTP. */
  certificate?: string;
  port?: number;
};

/** Starts a website that accepts votes. */
export async function startFakeHttpListener({ certificate, port = 0 }: Options = {}): Promise<HttpListener> {
  const listener: HttpListener = {
    port,
    received: [],
    answer: (response) => void response.writeHead(204).end(),
    challenges: 0,
    answerChallenge: (response, challenge) => void response.end(JSON.stringify({ challenge })),
  };
  const onRequest: RequestListener = async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { method = '', url: path = '', headers } = request;
    const received = { method, path, headers, body: Buffer.concat(pieces).toString('utf8') };
    const challenge = challengeIn(received.body);
    if (challenge !== null) {
      listener.challenges += 1;
      listener.answerChallenge(response, challenge);
      return;
    }
    listener.received.push(received);
    listener.answer(response, received);
  };
  const pem = certificate === undefined ? undefined : testCertificate(certificate);
  const server = pem ? https.createServer({ key: pem, cert: pem }, onRequest) : http.createServer(onRequest);
  listener.port = await listen(server, port);
  return listener;
}

function challengeIn(body: string): string | null {
  if (!/"type":"(listener|subscription)\.challenge"/.test(body)) return null;
  const { data } = JSON.parse(body) as { data: { challenge: string } };
  return data.challenge;
}

/** Lets `server` listen on loopback until the test or file ends, even if connections are open. Returns its port. */
export async function listen(server: Server, port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  atTheEnd(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  return address && typeof address === 'object' ? address.port : 0;
}

/**
 * A certificate of test/support/certificates with its key. `votes`: for votes.example.org and 127.0.0.1;
 * `other`: for another name; `expired`: no longer valid. All are signed by `authority`.
 *
 * `with-intermediate`, `without-intermediate` and `not-yet-valid` (from 2120) are signed under `second-authority`;
 * `own-authority` sends that authority too, and `self-signed` has none.
 */
export function testCertificate(name: string): string {
  return readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');
}

/** Makes this process trust an authority of the tests until the test ends. */
export function trustTestAuthority(name = 'authority'): void {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, testCertificate(name)]);
  onTestFinished(() => tls.setDefaultCACertificates(before));
}
