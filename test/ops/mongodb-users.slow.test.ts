import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { startMongod } from '../support/services.ts';
import { pathOf } from './operators-files.ts';

const [ROOT, APPLICATION] = ['root-password', 'application-password'];
const UNAUTHORIZED = 13;

/** Runs one command and prints the answer: mongosh waits for each of them. */
const COMMAND = `
  import { MongoClient } from 'mongodb';
  const [uri, command] = JSON.parse(process.argv[1]);
  const client = new MongoClient(uri);
  const answer = await client.db('admin').command(command).catch(({ code, message }) => ({ code, message }));
  console.log(JSON.stringify(answer));
  await client.close();`;

type Answer = { code?: number; message?: string; users?: object[] };

function run(uri: string, command: object): Answer {
  const input = JSON.stringify([uri, command]);
  const answer: Answer = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', COMMAND, input], { encoding: 'utf8' }),
  );
  if (answer.code !== undefined) throw Object.assign(new Error(answer.message), { code: answer.code });
  return answer;
}

/** `connect` of mongosh, with what `users.js` uses of it. */
function connect(uri: string) {
  run(uri, { ping: 1 });
  return {
    getUser: (name: string) => run(uri, { usersInfo: name }).users?.[0] ?? null,
    createUser: ({ user, ...fields }: { user: string }) => run(uri, { createUser: user, ...fields }),
    updateUser: (user: string, fields: object) => run(uri, { updateUser: user, ...fields }),
  };
}

/** Runs `users.js` as mongosh does in the container `mongodb-user`. */
function setUsers(uri: string): void {
  const files: Record<string, string> = { '/data/configdb/root-password': `${ROOT}\n` };
  runInNewContext(readFileSync(pathOf('compose/mongodb/users.js'), 'utf8'), {
    URL,
    connect,
    print: () => undefined,
    process: { env: { MONGODB_URI: uri } },
    require: () => ({ readFileSync: (path: string) => files[path] }),
  });
}

async function open(uri: string): Promise<MongoClient> {
  const client = new MongoClient(uri);
  onTestFinished(() => client.close());
  return client.connect();
}

test.each([
  ['new data', 'root', ROOT],
  ['data of an earlier Compose file, where its user was root', 'tallyport', APPLICATION],
])('the user of Compose’s processes may use their own database only: %s', async (_, name, pwd) => {
  const mongod = await startMongod({ args: ['--auth'] });
  onTestFinished(() => mongod.stop());
  // MongoDB's image makes this user.
  const first = await open(mongod.uri);
  await first.db('admin').command({ createUser: name, pwd, roles: ['root'] });

  const host = `127.0.0.1:${mongod.port}`;
  const uri = `mongodb://tallyport:${APPLICATION}@${host}/tallyport?authSource=admin`;
  // Twice: it runs at each start.
  setUsers(uri);
  setUsers(uri);

  const application = await open(uri);
  await application.db().collection('votes').insertOne({});
  await application.db().command({ collMod: 'votes', validationLevel: 'moderate' });
  const refused = [
    () => application.db('other').collection('votes').insertOne({}),
    () => application.db('admin').collection('system.users').findOne(),
    () => application.db('admin').command({ createUser: 'another', pwd, roles: ['root'] }),
  ];
  for (const one of refused) await expect(one()).rejects.toMatchObject({ code: UNAUTHORIZED });
  const root = await open(`mongodb://root:${ROOT}@${host}/admin`);
  expect(await root.db('other').collection('votes').countDocuments()).toBe(0);
});
