import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';

/** What a process writes that logs `fields`, an expression. */
function logged(fields: string, bindings = '{}'): Record<string, unknown> {
  const { stdout } = spawnSync(process.execPath, [
    '--input-type=module-typescript',
    '--eval',
    `import { createLogger } from '${new URL('../src/log.ts', import.meta.url).href}';
     createLogger({ LOG_LEVEL: 'info' }, 'test').child(${bindings}).info(${fields});`,
  ]);
  return JSON.parse(String(stdout));
}

describe('a log line', () => {
  test('shows its fields, and the time, level and process', () => {
    expect(
      logged(`{ event: 'vote.accepted', at: new Date(0), some: [1, { two: null }] }, 'a message'`),
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
    const secret = `{ '${name}': 'hush' }`;
    const line = logged(
      `{ '${name}': 'hush', second: ${secret}, deeper: { third: ${secret} }, list: [${secret}], fine: 1 }`,
      secret,
    );
    expect(JSON.stringify(line)).not.toContain('hush');
    expect(line).toMatchObject({
      [name]: '[redacted]',
      deeper: { third: { [name]: '[redacted]' } },
      fine: 1,
    });
  });

  test('never shows one that a logger of a part of the process was made with', () => {
    const line = logged("{ event: 'said' }", "{ token: 'hush', deeper: { secret: 'hush' }, jobId: '7' }");
    expect(line).toMatchObject({ token: '[redacted]', deeper: { secret: '[redacted]' }, jobId: '7' });
    const child = logged("{ event: 'said' }", "{ jobId: '7' }).child({ cookie: 'hush' }");
    expect(child).toMatchObject({ cookie: '[redacted]', jobId: '7' });
  });

  test('shows an error with its stack, without the secrets on it', () => {
    const { err } = logged(`{ err: Object.assign(new TypeError('broken'), { code: 7, token: 'hush' }) }`);
    expect(err).toMatchObject({ type: 'TypeError', message: 'broken', code: 7, token: '[redacted]' });
    expect(err).toHaveProperty('stack', expect.stringContaining('TypeError: broken'));
  });

  test('is written when the process ends in the same moment', () => {
    expect(logged(`{ event: 'last' }), process.exit(0`)).toMatchObject({ event: 'last' });
  });
});
