import { ownEnvironment, type Variables } from '../../src/platform/environment.ts';
import { unmigratedNames } from '../support/databases.ts';

/** The environment of a command whose database does not exist yet. `changes` may name services that do not run. */
export function environment(changes: Variables = {}): Variables {
  const { mongodbUri, redisUrl, queuePrefix } = unmigratedNames();
  return {
    ...ownEnvironment(),
    NODE_ENV: 'test',
    SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
    MONGODB_URI: mongodbUri,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: queuePrefix,
    ...changes,
  };
}
