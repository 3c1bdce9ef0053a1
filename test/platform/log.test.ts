import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createLogger, type Logger } from '../../src/platform/log.ts';

/** The log line of `write`. */
function logged(write: (log: Logger) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(createLogger({ LOG_LEVEL: 'info' }, 'test', { write: (line) => void lines.push(line) }));
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

describe('a log line', () => {
  test('shows its fields, and the time, level and process', () => {
    expect(
      logged((log) =>
        log.info({ event: 'vote.accepted', at: new Date(0), some: [1, { two: null }] }, 'a message'),
      ),
    ).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      process: 'test',
      event: 'vote.accepted',
      at: '1970-01-01T00:00:00.000Z',
      some: [1, { two: null }],
      msg: 'a message',
    });
  });

  test.each([
    'authorization',
    'cookie',
    'set-cookie',
    'token',
    'publicKey',
    'secret',
    'password',
  ])('never shows a field `%s`, on its first three levels and in lists', (name) => {
    const secret = { [name]: 'hush' };
    const line = logged((log) =>
      log
        .child(secret)
        .info({ ...secret, second: secret, deeper: { third: secret }, list: [secret], fine: 1 }),
    );
    expect(JSON.stringify(line)).not.toContain('hush');
    expect(line).toMatchObject({
      [name]: '[redacted]',
      deeper: { third: { [name]: '[redacted]' } },
      fine: 1,
    });
  });

  test('never shows a secret in the bindings of a child logger', () => {
    const bindings = { token: 'hush', deeper: { secret: 'hush' }, jobId: '7' };
    const line = logged((log) => log.child(bindings).info({ event: 'said' }));
    expect(line).toMatchObject({ token: '[redacted]', deeper: { secret: '[redacted]' }, jobId: '7' });
    const child = logged((log) =>
      log.child({ jobId: '7' }).child({ cookie: 'hush' }).info({ event: 'said' }),
    );
    expect(child).toMatchObject({ cookie: '[redacted]', jobId: '7' });
  });

  test('shows an error with its stack, without its secret fields', () => {
    const error = Object.assign(new TypeError('broken'), { code: 7, token: 'hush' });
    const { err } = logged((log) => log.info({ err: error }));
    expect(err).toMatchObject({ type: 'TypeError', message: 'broken', code: 7, token: '[redacted]' });
    expect(err).toHaveProperty('stack', expect.stringContaining('TypeError: broken'));
  });

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
