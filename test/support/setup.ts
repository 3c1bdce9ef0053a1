import mongoose from 'mongoose';
import { afterAll } from 'vitest';
import { closeAtFileEnd } from './at-the-end.ts';
import { giveBackDatabases } from './databases.ts';
import { requireKnownKeys } from './filter-keys.ts';

// vitest runs this before each file, so these hooks are called last, and the second one first.
afterAll(giveBackDatabases);
afterAll(closeAtFileEnd);

mongoose.set('debug', requireKnownKeys);
