import { expect, test } from 'vitest';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { testDeps } from '../support/test-deps.ts';
import { startWeb } from '../support/web-process.ts';

test('settings of an older version are reported at the start, with the fix', async () => {
  const { MONGODB_URI, REDIS_URL, QUEUE_PREFIX, SECRET_KEY } = (await testDeps()).config;
  const env = { MONGODB_URI, REDIS_URL, QUEUE_PREFIX, SECRET_KEY, PORT: '0', METRICS_PORT: '0' };
  const web = await startWeb({
    ...(ownEnvironment() as Record<string, string>),
    ...env,
    NODE_ENV: 'test',
    OPERATOR_PASSWORD_HASH: 'scrypt$1$2$3$s3cr$et',
  });
  expect(web.log()).toContain('tallyport operator create --email ADDRESS');
  expect(web.log()).not.toContain('s3cr');
});
