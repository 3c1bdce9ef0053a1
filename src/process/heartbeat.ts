import manifest from '../../package.json' with { type: 'json' };
import { MIGRATIONS } from '../database/migrations.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import { SEEN_EVERY_MS } from '../platform/processes/running-process.ts';
import type { AppDeps } from './app-deps.ts';

const OURS = { version: manifest.version, migrations: MIGRATIONS.map(({ name }) => name) };

/**
 * Records every 10 seconds, and at each call of `beat`, that this process runs. `close` deletes the record. While
 * MongoDB fails or is not migrated yet, nothing is recorded, and the process is not affected.
 */
export function startHeartbeat(
  deps: AppDeps,
  kind: string,
  software: { version: string; migrations: string[] } = OURS,
): { beat(): Promise<void>; close(): Promise<void> } {
  const { runningProcesses, processId, log } = deps;
  let hasCollection = false;
  let running = Promise.resolve();

  async function record(): Promise<void> {
    // If this write created the collection, `tallyport migrate` would take an empty database for one with data.
    hasCollection ||= await isMade(deps);
    if (!hasCollection) return;
    const startedAt = { $ifNull: ['$startedAt', '$$NOW'] };
    const record = { kind, ...software, startedAt, seenAt: '$$NOW' };
    await runningProcesses.updateOne({ _id: processId }, [{ $set: record }], { upsert: true });
  }
  const beat = () => {
    running = record().catch((error: unknown) =>
      log.debug({ event: 'process.not_recorded', reason: String(error) }),
    );
    return running;
  };
  const timer = setInterval(beat, SEEN_EVERY_MS);
  timer.unref();

  return {
    beat,
    async close() {
      clearInterval(timer);
      // If MongoDB does not answer, the TTL index deletes the record later.
      const forget = async () => {
        await running;
        if (hasCollection) await runningProcesses.deleteOne({ _id: processId });
      };
      await within(SECOND, forget()).catch(() => undefined);
    },
  };
}

async function isMade({ mongo, runningProcesses }: AppDeps): Promise<boolean> {
  const name = runningProcesses.collectionName;
  return (await mongo.db.listCollections({ name }, { nameOnly: true }).toArray()).length > 0;
}
