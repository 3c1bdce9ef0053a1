import type { FastifyInstance } from 'fastify';
import { plainAddress, plainForwardedFor } from '../platform/limits/client-address.ts';

/**
 * Gives `request.ip` one spelling for each client, for every later hook and route: without port, brackets and zone, and
 * as IPv4 if the address is IPv4-mapped. If a proxy added ports and they stayed, each connection would count as another
 * client, and no limit by network would apply. Register this before every hook that reads the address.
 */
export function plainAddresses(app: FastifyInstance, trust: false | number | string[]): void {
  app.server.prependListener('connection', (socket) => {
    const plain = plainAddress(socket.remoteAddress);
    if (plain !== null && plain !== socket.remoteAddress)
      Object.defineProperty(socket, 'remoteAddress', { value: plain });
  });
  // If no proxy is trusted, the header is not used; only a warning reads it.
  if (trust === false) return;
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    const given = headers['x-forwarded-for'];
    if (given === undefined) return done();
    // Node joins repeated headers with a comma.
    const plain = plainForwardedFor(String(given));
    if (plain === null) delete headers['x-forwarded-for'];
    else headers['x-forwarded-for'] = plain;
    done();
  });
}
