import { MongoServerError } from 'mongodb';
import type { Mongo } from '../../platform/mongo.ts';
import { bindCollections } from '../collections.ts';

/** The index of builds before 0.2.0, which allowed only one open quarantine for each server. */
const ONE_A_SERVER = 'open_quarantines';

/** MongoDB's error codes for a missing index or collection. */
const MISSING = new Set(['IndexNotFound', 'NamespaceNotFound']);

/** Allows a server one open quarantine for each origin by dropping the old unique index; the new one exists already. */
export async function groupQuarantines(mongo: Mongo): Promise<void> {
  await bindCollections(mongo)
    .voteExclusions.dropIndex(ONE_A_SERVER)
    .catch((error: unknown) => {
      if (!(error instanceof MongoServerError && MISSING.has(error.codeName ?? ''))) throw error;
    });
}
