import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { type Document, MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { startMongod } from '../support/services.ts';
import { pathOf } from './operators-files.ts';

const [ROOT, APPLICATION] = ['root-password', 'application-password'];

/** Runs commands in a thread, because scripts of mongosh wait for each answer. */
const COMMANDS = `
  const { parentPort } = require('node:worker_threads');
  const { MongoClient } = require('mongodb');
  parentPort.on('message', async ({ uri, command, port, done }) => {
    const client = new MongoClient(uri);
    const answer = await client.db('admin').command(command).catch(({ code, message }) => ({ code, message }));
    await client.close();
    port.postMessage(JSON.stringify(answer));
    Atomics.store(done, 0, 1);
    Atomics.notify(done, 0);
  });`;

type Answer = { code?: number; message?: string; users?: object[] };

/** What `users.js` uses of mongosh's `connect`. */
function connector(worker: Worker) {
  const run = (uri: string, command: Document): Answer => {
    const { port1, port2: port } = new MessageChannel();
    const done = new Int32Array(new SharedArrayBuffer(4));
    worker.postMessage({ uri, command, port, done }, [port]);
    Atomics.wait(done, 0, 0);
    const answer: Answer = JSON.parse(receiveMessageOnPort(port1)?.message);
    port1.close();
    if (answer.code !== undefined) throw Object.assign(new Error(answer.message), { code: answer.code });
    return answer;
  };
  return (uri: string) => {
    run(uri, { ping: 1 });
    return {
      getUser: (name: string) => run(uri, { usersInfo: name }).users?.[0] ?? null,
      createUser: ({ user, ...fields }: Document) => run(uri, { createUser: user, ...fields }),
      updateUser: (user: string, fields: Document) => run(uri, { updateUser: user, ...fields }),
    };
  };
}

test('the user of Compose’s processes has rights on their own database alone, with an older volume too', async () => {
  const worker = new Worker(COMMANDS, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const mongod = await startMongod();
  onTestFinished(() => mongod.stop());
  const client = new MongoClient(mongod.uri);
  onTestFinished(() => client.close());
  const admin = client.db('admin');
  const host = `127.0.0.1:${mongod.port}`;
  const uri = `mongodb://tallyport:${APPLICATION}@${host}/tallyport?authSource=admin`;

  /** Runs `users.js` as mongosh does in the container `mongodb-user`; that is at each start. */
  const setUsers = () => {
    const files: Record<string, string> = { '/data/configdb/root-password': `${ROOT}\n` };
    runInNewContext(readFileSync(pathOf('compose/mongodb/users.js'), 'utf8'), {
      URL,
      connect: connector(worker),
      print: () => undefined,
      process: { env: { MONGODB_URI: uri } },
      require: () => ({ readFileSync: (path: string) => files[path] }),
    });
  };
  const rightsOf = async (name: string) => {
    const { users } = await admin.command({ usersInfo: { user: name, db: 'admin' }, showPrivileges: true });
    const privileges: { resource: { db?: string }; actions: string[] }[] = users[0].inheritedPrivileges;
    return {
      databases: new Set(privileges.map(({ resource: { db } }) => db)),
      actions: privileges.flatMap(({ actions }) => actions),
    };
  };
  const expectLeastRights = async () => {
    const { databases, actions } = await rightsOf('tallyport');
    expect(databases).toEqual(new Set(['tallyport']));
    // A restore changes options of collections.
    expect(actions).toEqual(expect.arrayContaining(['insert', 'update', 'createIndex', 'collMod']));
    expect(actions).not.toContain('createUser');
    expect((await rightsOf('root')).actions).toContain('createUser');
    const application = await new MongoClient(uri).connect();
    await application.close();
  };

  // The volume of an earlier Compose file: its user is root.
  await admin.command({ createUser: 'tallyport', pwd: APPLICATION, roles: ['root'] });
  for (let start = 1; start <= 2; start += 1) {
    setUsers();
    await expectLeastRights();
  }
  // A new volume: MongoDB's image has made root alone.
  await admin.command({ dropUser: 'tallyport' });
  setUsers();
  await expectLeastRights();
  // Neither password is the one of the volume.
  await admin.command({ dropUser: 'root' });
  await admin.command({ updateUser: 'tallyport', pwd: 'another' });
  expect(setUsers).toThrow('Neither root');
});
