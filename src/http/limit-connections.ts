import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { plainAddress } from '../platform/limits/client-address.ts';
import { networksOf } from '../platform/limits/network-of.ts';
import type { Logger } from '../platform/log.ts';
import { isInRange, parseNetwork } from '../votes/blocks/network-range.ts';

/** Times are in milliseconds. */
export type ConnectionLimits = {
  /** The most connections of all clients together. Idle ones are counted, because they need memory too. */
  most: number;
  /** The most connections of an IPv4 address or IPv6 /64. An IPv6 /48 may have four times as many. 0: no limit. */
  perAddress: number;
  /** How long a connection may wait for a complete request, after it was opened or after its last answer was sent. */
  idleMs: number;
  /** How long an answer may take, until the operating system has accepted all of it. */
  answerMs: number;
  /** How many bytes of the answers on all connections may wait for their clients to read them. */
  unreadBytes: number;
};

/**
 * Above the limits by which Node closes most idle connections: 10 s for headers, 15 s for the body, 75 s between
 * requests.
 */
export const CONNECTION_LIMITS: Omit<ConnectionLimits, 'perAddress'> = {
  most: 10_000,
  idleMs: 90 * SECOND,
  answerMs: 10 * MINUTE,
  unreadBytes: 128 * 1_024 * 1_024,
};

type Deps = {
  limits: ConnectionLimits;
  isProxy: (address: string) => boolean;
  log: Pick<Logger, 'warn'>;
};

/**
 * If there are too many connections in total, the one that has waited longest for a complete request is closed, so
 * clients that send nothing cannot lock out visitors. If none waits, the new one is closed, as for an address with too
 * many. If unread answers exceed `unreadBytes`, the oldest connections with such answers are closed.
 */
export function limitConnections(server: Server, { limits, isProxy, log }: Deps): () => void {
  const warnAtLimit = limitedLog(log);
  const perNetwork = new Map<string, number>();
  /** Connections that wait for a complete request, and since when. */
  const waiting = new Map<Socket, number>();
  /** Connections with a request that is being answered, and since when. */
  const answering = new Map<Socket, number>();
  const moveTo = (list: typeof waiting, socket: Socket) => {
    waiting.delete(socket);
    answering.delete(socket);
    // Both maps are ordered by time: the connection was removed first, so that it is added at the end.
    list.set(socket, performance.now());
  };

  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const networks = limits.perAddress === 0 || isProxy(address) ? [] : networksOf(address);
    if (
      networks.some(({ network, factor }) => (perNetwork.get(network) ?? 0) >= factor * limits.perAddress)
    ) {
      socket.destroy();
      return warnAtLimit('address', { address, limit: limits.perAddress });
    }
    if (waiting.size + answering.size >= limits.most) {
      const [oldest = socket] = waiting.keys();
      oldest.destroy();
      waiting.delete(oldest);
      warnAtLimit('process', { limit: limits.most });
      if (oldest === socket) return;
    }
    for (const { network } of networks) perNetwork.set(network, (perNetwork.get(network) ?? 0) + 1);
    moveTo(waiting, socket);
    socket.once('close', () => {
      waiting.delete(socket);
      answering.delete(socket);
      for (const { network } of networks) {
        const left = (perNetwork.get(network) ?? 1) - 1;
        if (left > 0) perNetwork.set(network, left);
        else perNetwork.delete(network);
      }
    });
  });

  const open = new WeakMap<Socket, number>();
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    open.set(socket, (open.get(socket) ?? 0) + 1);
    if (!hasBody(request)) moveTo(answering, socket);
    else {
      // While the body arrives, the request is not complete, so the connection stays in `waiting`.
      request.once('end', () => {
        if (!response.closed && !socket.destroyed) moveTo(answering, socket);
      });
    }
    response.once('close', () => {
      const left = (open.get(socket) ?? 1) - 1;
      open.set(socket, left);
      if (!socket.destroyed) moveTo(left > 0 ? answering : waiting, socket);
    });
  });

  const close = (list: typeof waiting, ms: number) => {
    const before = performance.now() - ms;
    for (const [socket, since] of list) {
      if (since > before) return;
      socket.destroy();
    }
  };
  const closeUnread = () => {
    let unread = 0;
    for (const socket of answering.keys()) unread += socket.writableLength;
    for (const socket of answering.keys()) {
      if (unread <= limits.unreadBytes) return;
      if (socket.writableLength === 0) continue;
      unread -= socket.writableLength;
      socket.destroy();
      warnAtLimit('unread', { limit: limits.unreadBytes });
    }
  };
  const timer = setInterval(
    () => {
      close(waiting, limits.idleMs);
      close(answering, limits.answerMs);
      closeUnread();
    },
    Math.min(SECOND, limits.idleMs),
  );
  timer.unref();
  return () => clearInterval(timer);
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || length !== '0';
}

function limitedLog(log: Pick<Logger, 'warn'>): (by: LimitedBy, fields: object) => void {
  const last = new Map<LimitedBy, { at: number; closed: number }>();
  return (by, fields) => {
    const { at, closed } = last.get(by) ?? { at: Number.NEGATIVE_INFINITY, closed: 0 };
    const now = performance.now();
    if (now - at < MINUTE) return void last.set(by, { at, closed: closed + 1 });
    log.warn({ event: 'connections.limited', by, closed: closed + 1, ...fields }, MESSAGES[by]);
    last.set(by, { at: now, closed: 0 });
  };
}

type LimitedBy = keyof typeof MESSAGES;

const MESSAGES = {
  address:
    'Connections of one address are closed: it has as many as CONNECTIONS_PER_ADDRESS allows. If it is a proxy, set TRUST_PROXY',
  process: 'This process has as many connections as it can: those that have been idle for longest are closed',
  unread:
    'Clients do not read their answers, which use too much memory: the oldest of their connections are closed',
};

/** Limits connections in total and per client address; not for a trusted proxy, whose address many clients share. */
export function boundConnections(
  app: FastifyInstance,
  { config, log }: { config: Pick<Config, 'CONNECTIONS_PER_ADDRESS' | 'TRUST_PROXY'>; log: Logger },
): void {
  const stop = limitConnections(app.server, {
    limits: { ...CONNECTION_LIMITS, perAddress: config.CONNECTIONS_PER_ADDRESS },
    isProxy: proxyTest(config.TRUST_PROXY),
    log,
  });
  app.addHook('onClose', async () => stop());
}

function proxyTest(trust: Config['TRUST_PROXY']): (address: string) => boolean {
  if (typeof trust === 'number') return () => true;
  const ranges = (trust || []).flatMap((range) => parseNetwork(range) ?? []);
  if (ranges.length === 0) return () => false;
  return (text) => {
    const plain = plainAddress(text);
    if (plain === null) return false;
    const address = ipaddr.parse(plain);
    return ranges.some((range) => isInRange(address, range));
  };
}
