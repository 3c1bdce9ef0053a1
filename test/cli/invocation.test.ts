import { describe, expect, it } from 'vitest';
import { invocation } from '../../src/cli/invocation.ts';

describe('a hint', () => {
  it.each([
    [{}, 'node src/cli.ts token list a'],
    [{ npm_lifecycle_event: 'test' }, 'node src/cli.ts token list a'],
    [{ npm_lifecycle_event: 'tallyport' }, 'npm run -s tallyport -- token list a'],
    [{ DATA_DIR: '.data' }, 'node src/cli.ts token list a'],
    [{ DATA_DIR: '/srv/tallyport' }, 'DATA_DIR=/srv/tallyport node src/cli.ts token list a'],
    [
      { DATA_DIR: "/srv/it's here", npm_lifecycle_event: 'tallyport' },
      "DATA_DIR='/srv/it'\\''s here' npm run -s tallyport -- token list a",
    ],
  ])('with %o is typed as %s', (env, typed) => {
    expect(invocation('token list a', env)).toBe(typed);
  });
});
