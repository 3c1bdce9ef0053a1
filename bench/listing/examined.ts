import type { Document } from 'mongodb';
import type { AppDeps } from '../../src/process/app-deps.ts';

/** How many keys and documents a database operation examined, and how many it returned. */
export type Examined = {
  what: string;
  keys: number;
  documents: number;
  returned: number;
  isIndexed: boolean;
};

/** The database operations of `work`, from MongoDB's profiler. */
export async function examinedBy(deps: AppDeps, work: () => Promise<unknown>): Promise<Examined[]> {
  const { db } = deps.mongo;
  const profile = db.collection('system.profile');
  await db.command({ profile: 2 });
  try {
    await work();
  } finally {
    await db.command({ profile: 0 });
  }
  // A process itself reads `restores` every second, `settings` every 1.5 s, and writes its line in `processes`.
  const own = {
    ns: { $not: /\.(system\.profile|restores|settings|processes)$/ },
    'command.profile': { $exists: false },
  };
  const operations = await profile.find(own).sort({ ts: 1 }).toArray();
  await profile.drop();
  return operations.map(examined);
}

function examined(operation: Document): Examined {
  const { keysExamined: keys = 0, docsExamined: documents = 0, nreturned: returned = 0 } = operation;
  const what = `${operation.op} ${String(operation.ns).split('.').slice(1).join('.')}`;
  // Design rule 13: an operation examines at most 3 times what it returns, plus 10.
  const isBounded = Math.max(keys, documents) <= 3 * returned + 10;
  return {
    what,
    keys,
    documents,
    returned,
    isIndexed: isBounded && !/COLLSCAN/.test(operation.planSummary ?? ''),
  };
}
