import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';

describe('a log line', () => {
  test('is written when the process exits at the same moment', () => {
    const { stdout } = spawnSync(process.execPath, [
      '--input-type=module-typescript',
      '--eval',
      `import { createLogger } from '${new URL('../../src/platform/log.ts', import.meta.url).href}';
       createLogger({ LOG_LEVEL: 'info' }, 'test').info({ event: 'last' });
       process.exit(0);`,
    ]);
    expect(JSON.parse(String(stdout))).toMatchObject({ event: 'last' });
  });
});
