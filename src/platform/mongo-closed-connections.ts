import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** The parts of the driver's `Connection` that are used here: the driver does not export the class. */
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
 * Makes every operation of the driver settle when its connection closes. The driver (7.8 and 7.9) waits for `drain` if
 * the socket does not take a write at once. If the socket closes meanwhile, it never emits `drain`: the operation would
 * never settle, and no time limit would end it (ADR 106).
 */
Connection.prototype.cleanup = function cleanUpAndWake(error) {
  cleanup.call(this, error);
  // If an operation compresses its message, it writes it later.
  this.socket.write = () => {
    throw error;
  };
  // If an operation waits, it now continues, finds its connection closed, and throws `error`.
  this.socket.emit('drain');
};
