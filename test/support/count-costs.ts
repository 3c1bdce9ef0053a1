// vitest takes only a pattern as the first argument of a hook, also an empty one.
// oxlint-disable no-empty-pattern
import { afterAll } from 'vitest';
import { processorSeconds } from './processor-time.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The processor seconds of a file, with its imports and the processes that it starts. */
    processorSeconds?: number;
  }
}

// `npm run test:costs` runs this file before each test file and before `setup.ts`, so its hook is the last one.
const before = processorSeconds().all;

// biome-ignore lint/correctness/noEmptyPattern: no fixture is needed.
afterAll(({}, file) => {
  file.meta.processorSeconds = processorSeconds().all - before;
});
