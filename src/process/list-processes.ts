import { listMigrations } from '../database/migrations.ts';
import { connectedEarlierHosts } from '../platform/earlier-processes.ts';
import { LOST_AFTER_MS, type RunningProcess } from '../platform/processes/running-process.ts';
import type { AppDeps } from './app-deps.ts';

const MOST = 500;

/** `isLost`: its last record is older than `LOST_AFTER_MS`. */
export type ListedProcess = RunningProcess & { isLost: boolean };

export type RunningSoftware = {
  processes: ListedProcess[];
  versions: string[];
  /** The machines of connected processes of 0.1.0, which record nothing; null if MongoDB does not say. */
  earlierHosts: string[] | null;
  /** The migrations that a running version or this version has and that were not applied. */
  pending: string[];
};

export async function listProcesses(deps: AppDeps): Promise<RunningSoftware> {
  const [records, migrations, earlierHosts] = await Promise.all([
    readProcesses(deps),
    listMigrations(deps.mongo),
    connectedEarlierHosts(deps.mongo),
  ]);
  const running = records.filter(({ isLost }) => !isLost);
  const applied = new Set(migrations.filter(({ appliedAt }) => appliedAt).map(({ name }) => name));
  const known = [...migrations.map(({ name }) => name), ...running.flatMap((one) => one.migrations)];
  return {
    processes: records,
    versions: [...new Set(running.map(({ version }) => version))],
    earlierHosts,
    pending: [...new Set(known)].filter((name) => !applied.has(name)).toSorted(),
  };
}

/** mongod computes the ages, because the records have the times of mongod's clock. */
async function readProcesses({ runningProcesses }: AppDeps): Promise<ListedProcess[]> {
  const found = await runningProcesses
    .aggregate<ListedProcess>([
      { $sort: { seenAt: -1 } },
      { $limit: MOST },
      { $set: { isLost: { $lt: ['$seenAt', { $subtract: ['$$NOW', LOST_AFTER_MS] }] } } },
    ])
    .toArray();
  return found.toSorted(
    (a, b) => a.kind.localeCompare(b.kind) || a.startedAt.getTime() - b.startedAt.getTime(),
  );
}
