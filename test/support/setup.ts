import { afterAll } from 'vitest';
import { closeAtFileEnd } from './at-the-end.ts';
import { giveBackDatabases } from './databases.ts';

// vitest runs this before each file, so these hooks are called last, and the second one first.
afterAll(giveBackDatabases);
afterAll(closeAtFileEnd);
