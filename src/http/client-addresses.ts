import type { FastifyInstance } from 'fastify';
import { plainAddress, plainForwardedFor } from '../platform/limits/client-address.ts';

/**
 * Removes port, brackets and zone from `request.ip`, and writes an IPv4-mapped address as IPv4: with the port that some
 * proxies add, each connection would count as another client. Register it before every hook that reads the address.
 */
export function plainAddresses(app: FastifyInstance, trust: false | number | string[]): void {
  app.server.prependListener('connection', (socket) => {
    const plain = plainAddress(socket.remoteAddress);
    if (plain !== null && plain !== socket.remoteAddress)
      Object.defineProperty(socket, 'remoteAddress', { value: plain });
  });
  // If no proxy is trusted, Fastify does not use `X-Forwarded-For`.
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
