import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** The parts of the driver's class `Connection` that this file uses. The driver does not export the class. */
type DriverConnection = { socket: Socket; cleanup(error: Error): void };

const driver = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  Connection?: { prototype: DriverConnection };
};
const { Connection } = driver;
const cleanup = Connection?.prototype.cleanup;
if (!Connection || !cleanup) {
  throw new Error(
    'The MongoDB driver has no Connection.cleanup: adapt mongo-closed-connections.ts (ADR 106)',
  );
}

/**
 * Makes every operation of the driver settle when its connection closes. If a socket does not accept a write at once,
 * the driver (7.8 and 7.9) waits for `drain`. If the socket closes meanwhile, it never emits `drain`, and the operation
 * would wait forever, without a time limit (ADR 106).
 */
Connection.prototype.cleanup = function cleanUpAndWake(error) {
  cleanup.call(this, error);
  // If an operation is still compressing its message, it writes only after this. That write must throw.
  this.socket.write = () => {
    throw error;
  };
  // An operation that waits for `drain` continues, finds its connection closed, and throws `error`.
  this.socket.emit('drain');
};
