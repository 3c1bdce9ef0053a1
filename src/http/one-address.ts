import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import { type Clock, HOUR, MINUTE } from '../platform/clock.ts';

/**
 * A private address counts as shared by many clients if it sent at least `REQUESTS` requests with at least
 * `USER_AGENTS` user agents within `WINDOW_MS`, and at least `SPREAD_MS` are between the first and the last of them.
 */
const REQUESTS = 100;
const SPREAD_MS = 10 * MINUTE;
const WINDOW_MS = HOUR;
/** The user agents of one user are fewer: one or two browsers, a plugin and a monitor. */
const USER_AGENTS = 5;

/** If more private addresses send requests, each client seems to have its own address, so no warning is logged. */
const MOST_ADDRESSES = 4;

const MESSAGE =
  'Many clients come from one private address and share its rate limits: web votes, sign-ins, searches. If a proxy has this address, it must pass on X-Forwarded-For, and TRUST_PROXY must count or name it. If it is the gateway of a container network, the engine does not pass on the addresses of clients, as with IPv6 visitors of a network without IPv6 (docs/operating/settings.md). If these clients do share an address, nothing is wrong.';

type Seen = { since: number; requests: number; userAgents: Set<string> };

/**
 * Logs a warning, once in a process, if many clients seem to share one private address. Requests for `/healthz` and
 * `/readyz` are not counted.
 */
export function warnOfOneAddress(app: FastifyInstance, clock: Clock): void {
  const seen = new Map<string, Seen>();
  let isOver = false;
  app.addHook('onRequest', (request, _reply, done) => {
    if (isOver || isHealthCheck(request.routeOptions.url) || !isPrivate(request.ip)) return done();
    const now = clock.now().getTime();
    let of = seen.get(request.ip);
    if (!of || now - of.since > WINDOW_MS) of = { since: now, requests: 0, userAgents: new Set() };
    seen.set(request.ip, of);
    of.requests += 1;
    if (of.userAgents.size < USER_AGENTS) of.userAgents.add(request.headers['user-agent'] ?? '');
    if (seen.size > MOST_ADDRESSES) isOver = true;
    else if (of.requests >= REQUESTS && of.userAgents.size >= USER_AGENTS && now - of.since >= SPREAD_MS) {
      isOver = true;
      const fields = { event: 'clients.one_address', address: request.ip, requests: of.requests };
      request.log.warn(fields, MESSAGE);
    }
    if (isOver) seen.clear();
    done();
  });
}

function isHealthCheck(route: string | undefined): boolean {
  return route !== undefined && /\/(healthz|readyz)$/.test(route);
}

/** Whether no visitor from the internet can have this address. A text that is not an address is not private. */
export function isPrivate(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ['private', 'uniqueLocal', 'loopback', 'linkLocal', 'carrierGradeNat'].includes(
    ipaddr.process(address).range(),
  );
}
