import { setTimeout as pause } from 'node:timers/promises';
import {
  type Collection,
  type Db,
  MongoBulkWriteError,
  MongoClient,
  MongoNetworkError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import mongoose, { type Connection, type ConnectOptions } from 'mongoose';
import { MINUTE, SECOND } from './clock.ts';
import type { Logger } from './log.ts';
import './mongo-closed-connections.ts';
import { addMembersTo } from './mongo-members.ts';

/** The models are compiled on `connection`. */
export type Mongo = {
  connection: Connection;
  db: Db;
  /** Whether this is a standalone mongod: neither a member of a replica set nor the router of a sharded cluster. */
  isStandalone: boolean;
  close(): Promise<void>;
};

export const OLDEST_MONGODB = 8;

/**
 * How long an operation may take by default. If it takes longer, an API request is answered with 503 (docs/errors.md).
 * It is used as `socketTimeoutMS`: how long a socket may be without an answer. The driver's own `timeoutMS` has no
 * effect beside that option.
 */
export const OPERATION_TIMEOUT_MS = 5 * SECOND;

/** The limit for operations whose result no client waits for: long commands and the demo's writes. */
export const LONG_OPERATION_TIMEOUT_MS = 30 * SECOND;

export type WriteSafety = { w: 'majority'; journal?: true };

/** The write survives a failover and a crash of mongod (design rules 1 and 4). */
export const DURABLE = { w: 'majority', journal: true } as const satisfies WriteSafety;

/** The write survives a failover. If a standalone mongod crashes, the last writes may be lost. */
export const REPLICATED = { w: 'majority' } as const satisfies WriteSafety;

/** The default: what the primary has. A command does not inherit it. */
export const LOCAL = { readConcern: { level: 'local' } } as const;

/** Reads only data that a majority of the nodes has. No failover reverts such data, so an answer may rely on it. */
export const MAJORITY = { readConcern: { level: 'majority' } } as const;

/**
 * The name of each connection to MongoDB. Version 0.1.0 uses the name without a version, so MongoDB can show whether
 * processes of 0.1.0 are connected (docs/adr/0124-fetching.md).
 */
const CONNECTION_NAME = 'tallyport/0.2';
export const EARLIER_CONNECTION_NAME = 'tallyport';

function connectOptions(uri: string, operationMs: number, durable: boolean): ConnectOptions {
  return {
    appName: CONNECTION_NAME,
    dbName: databaseName(uri),
    // Off, because `tallyport migrate` makes collections and indexes.
    autoCreate: false,
    autoIndex: false,
    // An operation without a connection fails after `serverSelectionTimeoutMS` instead of waiting in mongoose.
    bufferCommands: false,
    socketTimeoutMS: operationMs,
    waitQueueTimeoutMS: operationMs,
    serverSelectionTimeoutMS: OPERATION_TIMEOUT_MS,
    connectTimeoutMS: OPERATION_TIMEOUT_MS,
    // If a node is frozen or cut off, it is noticed after this time plus `connectTimeoutMS`, and the operations that
    // wait for it end. With the default of 10 s, operations on a frozen primary would hang for 15 s.
    heartbeatFrequencyMS: 2 * SECOND,
    maxPoolSize: 100,
    ignoreUndefined: true,
    writeConcern: durable ? DURABLE : REPLICATED,
    // Overrides the read preference in the address: a stale node would still accept a revoked token.
    readPreference: 'primary',
    ...LOCAL,
  };
}

/**
 * Retries while MongoDB does not answer, for `timeoutMs`.
 *
 * @param options - `operationMs`: how long each operation may take (0: no limit); `durable`: every write waits for the
 *   journal, so an acknowledged write survives a crash of a standalone mongod
 * @throws the error of the driver or of mongoose after `timeoutMs`, or at once when the address is invalid or the
 *   credentials are wrong
 */
export async function openMongo(
  uri: string,
  log: Logger,
  {
    timeoutMs = MINUTE,
    operationMs = OPERATION_TIMEOUT_MS,
    durable = false,
  }: { timeoutMs?: number; operationMs?: number; durable?: boolean } = {},
): Promise<Mongo> {
  const options = connectOptions(uri, operationMs, durable);
  const connection = mongoose.createConnection();
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      await connection.openUri(uri, options);
      const { db } = connection;
      if (!db) throw new Error('the connection is not open');
      const { setName, msg } = await db.command({ hello: 1 });
      return {
        connection,
        db,
        isStandalone: setName === undefined && msg !== 'isdbgrid',
        close: () => connection.destroy(),
      };
    } catch (error) {
      addMembersTo(error, uri);
      if (!isUnknownResult(error) || Date.now() >= deadline) {
        await connection.destroy();
        throw error;
      }
      log.warn({ event: 'mongodb.waiting', reason: String(error) }, 'MongoDB does not answer yet');
      await pause(SECOND);
    }
  }
}

/** The database that the address names; `tallyport` if it names none or `test`, which is the driver's default. */
function databaseName(uri: string): string {
  // This only parses the address; it does not connect.
  const named = new MongoClient(uri).options.dbName;
  return named === 'test' ? 'tallyport' : named;
}

/** Repeats an upsert once: if another process inserted the document at the same moment, the second call updates it. */
export function retryOnDuplicateKey<T>(upsert: () => Promise<T>): Promise<T> {
  return upsert().catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
    return upsert();
  });
}

const DUPLICATE_KEY = 11_000;

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === DUPLICATE_KEY;
}

/** Returns the indexes of the documents that were there already, by a unique key; the others are inserted. */
export async function insertAbsent<D extends object>(
  collection: Collection<D>,
  documents: D[],
): Promise<number[]> {
  if (documents.length === 0) return [];
  try {
    const inserts = documents as OptionalUnlessRequiredId<D>[];
    await collection.insertMany(inserts, { ordered: false, writeConcern: DURABLE });
    return [];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const errors = [error.writeErrors].flat();
    if (error.result.getWriteConcernError() || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    return errors.map(({ index }) => index);
  }
}

/**
 * Whether the result of an operation is unknown: the connection broke, a time limit was reached, there was no
 * connection, the node steps down or stops, or a write was not acknowledged as durable. A write that threw such an
 * error may have taken place.
 */
export function isUnknownResult(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The class is compared and not the name: if the monitor's timeout interrupts a write, the error is of a subclass,
  // `PoolClearedOnNetworkError`.
  if (error instanceof MongoNetworkError || LOST.test(error.name)) return true;
  if ('code' in error && SOCKET_FAULTS.has(String(error.code))) return true;
  const labels = 'errorLabels' in error && Array.isArray(error.errorLabels) ? error.errorLabels : [];
  return labels.includes('RetryableWriteError') || ('code' in error && PASSING_CODES.has(Number(error.code)));
}

/** An operation with an unknown result is sent again only if it failed within this time. */
const REPEATED_WITHIN_MS = SECOND;

/**
 * Sends an operation once more if its result is unknown. The driver does so for its own operations, not for a command.
 */
export function repeatIfUnknown<T>(send: () => Promise<T>): Promise<T> {
  const began = performance.now();
  return send().catch((error: unknown) => {
    if (!isUnknownResult(error) || performance.now() - began > REPEATED_WITHIN_MS) throw error;
    return send();
  });
}

const LOST =
  /^Mongo(?:ose)?(OperationTimeout|WaitQueueTimeout|PoolClosed|ServerSelection|ServerClosed|TopologyClosed|WriteConcern|NotConnected|ClientClosed)Error$/;

/** Codes of the plain error that the driver throws when a connection ends during a write. */
const SOCKET_FAULTS = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/** Codes of a node that steps down, stops or is cut off, and of time limits. Drivers call most of them retryable. */
const PASSING_CODES = new Set([
  6, 7, 50, 64, 89, 91, 134, 189, 262, 317, 358, 384, 9001, 10_107, 11_600, 11_602, 13_435, 13_436,
]);
