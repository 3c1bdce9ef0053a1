import { MongoServerError } from 'mongodb';
import type { Mongo } from '../../platform/mongo.ts';
import { bindCollections } from '../collections.ts';

/**
 * The indexes of builds before 0.2.0. The first allowed only one open quarantine for each server. The second found the
 * quarantines of an origin (the field `origin` of vote-exclusion.ts), but not sorted by time.
 */
const REPLACED = ['open_quarantines', 'origin_1'];

/** MongoDB's error codes for a missing index or collection. */
const MISSING = new Set(['IndexNotFound', 'NamespaceNotFound']);

/** Allows a server one open quarantine for each origin by dropping the old indexes; the new ones exist already. */
export async function groupQuarantines(mongo: Mongo): Promise<void> {
  const { voteExclusions } = bindCollections(mongo);
  for (const index of REPLACED)
    await voteExclusions.dropIndex(index).catch((error: unknown) => {
      if (!(error instanceof MongoServerError && MISSING.has(error.codeName ?? ''))) throw error;
    });
}
