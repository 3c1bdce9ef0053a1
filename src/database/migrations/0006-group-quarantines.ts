import { MongoServerError } from 'mongodb';
import type { Mongo } from '../../platform/mongo.ts';
import { bindCollections } from '../collections.ts';

/** The index of builds before 0.2.0 that allowed a server one open quarantine. */
const ONE_A_SERVER = 'open_quarantines';

/** MongoDB's error codes for a missing index or collection. */
const MISSING = new Set(['IndexNotFound', 'NamespaceNotFound']);

/** Lets a server have an open quarantine for each origin. The new unique index is there already. */
export async function groupQuarantines(mongo: Mongo): Promise<void> {
  await bindCollections(mongo)
    .voteExclusions.dropIndex(ONE_A_SERVER)
    .catch((error: unknown) => {
      if (!(error instanceof MongoServerError && MISSING.has(error.codeName ?? ''))) throw error;
    });
}
