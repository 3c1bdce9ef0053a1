import { createConnection } from 'mongoose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { refuseEarlierProcesses } from '../../src/platform/earlier-processes.ts';
import { startMongod } from '../support/services.ts';

let mongod: Awaited<ReturnType<typeof startMongod>>;
let connection: ReturnType<typeof createConnection>;
beforeAll(async () => {
  // A mongod of its own: connections of an earlier version count for all databases on it.
  mongod = await startMongod({ args: ['--setParameter', 'enableTestCommands=1'] });
  connection = await createConnection(`${mongod.uri.replace(/\/$/, '')}/earlier`).asPromise();
});
afterAll(async () => {
  await connection.close();
  await mongod.stop();
});

/** MongoDB answers the next aggregation with an error. */
async function failOnce(errorCode: number): Promise<void> {
  const data = { failCommands: ['aggregate'], errorCode };
  await connection
    .getClient()
    .db('admin')
    .command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
}

test('a user who may not list the connections of others lists its own', async () => {
  await failOnce(13);
  await expect(refuseEarlierProcesses({ connection })).resolves.toBeUndefined();
});

test('if MongoDB cannot list the connections, it is unknown whether an earlier version runs', async () => {
  await failOnce(2);
  await expect(refuseEarlierProcesses({ connection })).rejects.toMatchObject({
    code: 'processes-unknown',
    message: expect.stringContaining('try again'),
  });
});
