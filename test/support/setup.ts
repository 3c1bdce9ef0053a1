import { afterAll } from 'vitest';
import { giveBackDatabases } from './databases.ts';

// vitest runs this before each file, so this hook is called last.
afterAll(giveBackDatabases);
