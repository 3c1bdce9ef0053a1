import type { FastifyInstance } from 'fastify';
import { plainAddress, plainForwardedFor } from '../platform/limits/client-address.ts';

/**
 * Normalises `request.ip` for every later hook and route: without port, brackets and zone, and as IPv4 if the address
 * is IPv4-mapped. Some proxies add the port. With a port, each connection would count as another client, and no limit
 * by network would apply. Register this before every hook that reads the address.
 */
export function plainAddresses(app: FastifyInstance, trust: false | number | string[]): void {
  app.server.prependListener('connection', (socket) => {
    const plain = plainAddress(socket.remoteAddress);
    if (plain !== null && plain !== socket.remoteAddress)
      Object.defineProperty(socket, 'remoteAddress', { value: plain });
  });
  // If no proxy is trusted, Fastify does not use `X-Forwarded-For`, so the header is left as it is.
  if (trust === false) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    const given = headers['x-forwarded-for'];
    if (given === undefined) return done();
    // If the header occurs several times, Node has joined the values with commas.
    const plain = plainForwardedFor(String(given));
    if (plain === null) delete headers['x-forwarded-for'];
    else headers['x-forwarded-for'] = plain;
    done();
  });
}
