import { type InferRawDocType, Schema } from 'mongoose';
import { MINUTE, SECOND } from '../clock.ts';

export const SEEN_EVERY_MS = 10 * SECOND;

/** If a process has not updated its `seenAt` for this long: it was killed, hangs, or cannot reach MongoDB. */
export const LOST_AFTER_MS = 45 * SECOND;

/** How long a process stays in the list after its last `seenAt`. */
const KEPT_MS = 15 * MINUTE;

const runningProcessDefinition = {
  /** Unique for each start of a process. It begins with the host name. */
  _id: { type: String, required: true },
  /** `web`, `worker` or `scheduler`. */
  kind: { type: String, required: true },
  version: { type: String, required: true },
  /** The migrations that this version has, by name. */
  migrations: { type: [String], required: true },
  /** Both times are by mongod's clock. */
  startedAt: { type: Date, required: true },
  seenAt: { type: Date, required: true },
} as const;

/** The processes that run, one document each. A process that shuts down normally deletes its document. */
export const runningProcessSchema = new Schema(runningProcessDefinition, { collection: 'processes' });
runningProcessSchema.index({ seenAt: 1 }, { expireAfterSeconds: KEPT_MS / SECOND });

export type RunningProcess = Omit<InferRawDocType<typeof runningProcessDefinition>, 'migrations'> & {
  migrations: string[];
};
