import type { FastifyInstance } from 'fastify';
import { plainAddress, plainForwardedFor } from '../platform/limits/client-address.ts';

/**
 * Gives `request.ip` one spelling for each client, for every later hook and route: without a port, brackets or a zone,
 * and IPv4 for an IPv4-mapped address. Otherwise each connection behind a proxy that writes ports would be another
 * client, and no limit by network would apply. Register it before every hook that reads the address.
 */
export function plainAddresses(app: FastifyInstance, trust: false | number | string[]): void {
  app.server.prependListener('connection', (socket) => {
    const plain = plainAddress(socket.remoteAddress);
    if (plain !== null && plain !== socket.remoteAddress)
      Object.defineProperty(socket, 'remoteAddress', { value: plain });
  });
  // If no proxy is trusted, only the warning reads the header.
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
