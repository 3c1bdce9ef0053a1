/** What a test file may do beyond the vitest process, from its name; see docs/testing.md. */
export type Kind = 'plain' | 'doors' | 'slow' | 'browser' | 'process' | 'faults';

/** The kind of a test file, by its path: `process` for `test/api/web.process.test.ts`. */
export function kindOf(path: string): Kind {
  if (/(^|\/)test\/doors\//.test(path)) return 'doors';
  return (/\.(slow|browser|process|faults)\.test\.ts$/.exec(path)?.[1] as Kind | undefined) ?? 'plain';
}
