import mongoose from 'mongoose';
import { afterAll } from 'vitest';
import { closeAtFileEnd } from './at-the-end.ts';
import { giveBackDatabases } from './databases.ts';
import { requireFilledMails } from './filled-texts.ts';
import { requireKnownKeys } from './filter-keys.ts';
import { namePlugins } from './plugin-names.ts';
import { requireShardKey } from './shard-key.ts';

// vitest runs this file before each test file. Hooks run in reverse order, so these run after all others, the second
// one first.
afterAll(giveBackDatabases);
afterAll(closeAtFileEnd);

namePlugins();

mongoose.set('debug', (collection: string, operation: string, first: unknown) => {
  requireKnownKeys(collection, operation, first);
  requireShardKey(collection, operation, first);
  requireFilledMails(collection, operation, first);
});
