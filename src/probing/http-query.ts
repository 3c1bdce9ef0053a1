import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIPv6 } from 'node:net';
import { QueryError, requireAllowedPort, socketError } from './query-error.ts';

/** Real servers send less. */
const MOST_BYTES = 1_024 * 1_024;

/** got's option names. */
export type HttpQuery = {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  searchParams?: Record<string, unknown>;
  json?: unknown;
  body?: string;
  responseType?: string;
  https?: { rejectUnauthorized?: boolean };
};

/** `host`: as the owner entered it or as an SRV record names it; `address`: the checked one. */
export type HttpServer = { host: string; address: string; where: string };

/** To the checked address. Any status but 200 counts as a broken answer. */
export class HttpExchange {
  readonly #where: string;
  readonly #asJson: boolean;
  readonly #request: ClientRequest;
  readonly #answer: Promise<unknown>;
  #rejectAnswer: (error: Error) => void = () => {};
  /** How long connecting took, in milliseconds. */
  roundTripMs: number | null = null;

  /** @throws {QueryError} when the request would go to another machine or to a refused port */
  constructor(query: HttpQuery, server: HttpServer) {
    this.#where = server.where;
    this.#asJson = query.responseType === 'json';
    const url = urlOf(query, server);
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    requireAllowedPort(port);
    const body = query.json === undefined ? query.body : JSON.stringify(query.json);
    const began = performance.now();
    const { request } = url.protocol === 'https:' ? https : http;
    this.#request = request({
      host: server.address,
      port,
      path: `${url.pathname}${url.search}`,
      method: query.method ?? 'GET',
      headers: {
        host: url.host,
        ...(query.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...query.headers,
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
      agent: false,
      rejectUnauthorized: query.https?.rejectUnauthorized ?? true,
    });
    this.#answer = new Promise((resolve, reject) => {
      this.#rejectAnswer = reject;
      this.#request
        .on('error', (error) => this.fail(socketError(error, this.#where)))
        .on('socket', (socket) => {
          socket.on('connect', () => {
            this.roundTripMs = performance.now() - began;
          });
        })
        .on('response', (response) => this.#receive(response, resolve));
    });
    // A failure before `answer()` is called would be an unhandled rejection.
    this.#answer.catch(() => {});
    this.#request.end(body);
  }

  /** Parsed if JSON was requested: then a SyntaxError may come. */
  answer(): Promise<unknown> {
    return this.#answer;
  }

  #receive(response: IncomingMessage, resolve: (body: unknown) => void): void {
    const pieces: Buffer[] = [];
    let received = 0;
    response
      .on('error', (error) => this.fail(socketError(error, this.#where)))
      .on('data', (piece: Buffer) => {
        received += piece.length;
        pieces.push(piece);
        if (received > MOST_BYTES) {
          this.fail(
            new QueryError('answer-too-long', `${this.#where} sends more data than a game server should.`),
          );
        }
      })
      .on('end', () => {
        const text = Buffer.concat(pieces).toString();
        try {
          resolve(this.#asJson ? JSON.parse(text) : text);
        } catch (error) {
          this.#rejectAnswer(error instanceof Error ? error : new Error(String(error)));
        }
      });
    if (response.statusCode !== 200) {
      const status = `HTTP ${response.statusCode}`;
      this.fail(new QueryError('answer-broken', `${this.#where} answered with ${status}.`));
    }
  }

  fail(error: Error): void {
    this.#rejectAnswer(error);
    this.#request.destroy();
  }
}

/** It must have the server's own host or address and a port. Brackets IPv6 addresses. */
function urlOf({ url: text, searchParams = {} }: HttpQuery, { host, address }: HttpServer): URL {
  const bracketed = (name: string) => (isIPv6(name) ? `[${name}]` : name);
  const ownName = [host, address].find((name) => text.split('/')[2]?.startsWith(`${name}:`));
  if (ownName === undefined) {
    throw new QueryError('answer-broken', 'The protocol sends a request to a machine other than the server.');
  }
  const url = new URL(text.replace(`//${ownName}:`, `//${bracketed(ownName)}:`));
  for (const [name, value] of Object.entries(searchParams)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}
