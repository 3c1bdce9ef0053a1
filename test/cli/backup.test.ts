import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { newFolder } from '../backup/new-folder.ts';
import { startWorker } from '../support/workers.ts';
import { type Cli, openCli, tallyport } from './tallyport.ts';

let cli: Cli;
/** A backup of it. */
let taken: string;
/** A folder that does not exist yet. */
let folder: string;
let server: { server_id: string; slug: string };

beforeAll(async () => {
  cli = await openCli();
  server = await cli.addServer('Alpha');
  const target = { protocol: 'votifier-v2', host: '127.0.0.1', port: 9, secret: 'token' } as const;
  const serverId = new ObjectId(server.server_id);
  await setListener(cli.deps, serverId, { ...target, serviceName: 'Tallyport' }, 'test');
  for (const name of ['Steve', 'Alex']) await cli.cast(server.server_id, name);
  taken = await newFolder();
  await cli.run('backup', taken);
});
afterAll(() => cli.close());

beforeEach(async () => {
  folder = await newFolder();
});

/** Opens another installation with an empty database. */
async function elsewhere(): Promise<Cli> {
  const other = await openCli();
  onTestFinished(() => other.close());
  return other;
}

test('a backup is restored elsewhere, and the votes that it had open are sent by a command', async () => {
  const saved = await cli.run('backup --json', folder);
  expect(saved).toMatchObject({
    code: 0,
    json: { folder, snapshot: false, collections: { votes: 2, servers: 1 } },
  });

  const other = await elsewhere();
  const checked = await other.run('restore --dry-run', folder);
  expect(checked.stdout).toMatch(/^The backup is whole: \d+ documents of \d+ collections, the state of /);
  expect(await other.deps.servers.countDocuments()).toBe(0);

  const restored = await other.run('restore', folder);
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  expect(restored.stdout).toMatch(/^\d+ documents restored: the state of /);
  expect(restored.stdout).toMatch(
    /^2 votes were open in the backup and may have been delivered since: held back\. To list them: .+ vote resend-restored --list\. To send them, at the risk that they arrive twice: .+ vote resend-restored$/m,
  );
  expect(restored.stdout).toContain('Everybody must sign in again.');
  expect(restored.stdout).not.toContain('SECRET_KEY');

  const listed = await other.run('vote resend-restored --list');
  expect(listed.stdout).toMatch(/Server +Votes\nalpha +2/);
  const vote_id = String((await other.deps.votes.findOne({ username: 'Steve' }))?._id);
  expect((await other.run('vote show', vote_id)).stdout).toContain(
    'Restored from a backup. It may have arrived since the backup. It is not sent again automatically.',
  );

  const sent = await other.run('vote resend-restored');
  expect(sent.stdout).toBe('2 votes of 1 server in the queue again. They may arrive twice.\n');
  const timeline = await other.run('vote show', vote_id);
  expect(timeline.stdout).toMatch(/restored from a backup.*\n(.*\n)*.*resent by cli; it may arrive twice/);
  expect((await other.run('vote resend-restored')).stdout).toBe(
    'No vote was sent: none is held back by a restore.\n',
  );
  expect(await other.run('vote resend-restored --json')).toMatchObject({ json: { resent: 0, more: false } });
});

test('a restore into a database with documents is refused with its name and the way out', async () => {
  expect(await cli.run('restore', taken)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^The database “test_\w+” has documents \(\w+\)\. Restore into an empty database: set MONGODB_URI to one with another name, or DATA_DIR to a new folder\.\n$/,
    ),
  });
  expect(await cli.run('restore --json', taken)).toMatchObject({ json: { code: 'database-not-empty' } });
});

test('a folder that exists, that is no backup or that cannot be written is named', async () => {
  expect((await cli.run('backup', taken)).stderr).toBe(`“${taken}” exists already. Name a new folder.\n`);
  await cp(taken, folder, { recursive: true });
  const file = join(folder, 'servers.bson.gz');
  await writeFile(file, 'x');
  expect((await cli.run('restore --dry-run', folder)).stderr).toMatch(
    /^The backup is damaged: servers\.bson\.gz has 1 bytes instead of \d+\.\n$/,
  );
  expect((await cli.run('restore', join(folder, 'none'))).stderr).toBe(
    `There is no folder “${join(folder, 'none')}”.\n`,
  );
  expect((await cli.run('backup', join(file, 'below'))).stderr).toBe(
    `“${join(file, 'below')}” cannot be written: not a directory.\n`,
  );
});

test('a restore with another SECRET_KEY is refused with advice', async () => {
  const other = await elsewhere();
  const SECRET_KEY = 'another-key-for-tests-0123456789-abcdef';
  const run = (...args: string[]) => tallyport(args, { env: { ...other.env, SECRET_KEY } });
  expect(await run('restore', '--dry-run', taken)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('SECRET_KEY is not the key of the backup'),
  });
  expect(await cli.run('restore --dry-run', taken)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('SECRET_KEY is the key of the backup.'),
  });
  const refused = await run('restore', taken);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('use --without-secret-key') });
  expect(await other.deps.servers.countDocuments()).toBe(0);
});

test('a wrong SECRET_KEY shows where an operator looks', async () => {
  const env = { ...cli.env, SECRET_KEY: 'another-key-for-tests-0123456789-abcdef' };
  const run = (...args: string[]) => tallyport(args, { env });
  const unreadable = 'The secret of 1 listener cannot be read, so no vote is sent there';
  expect((await run('config', 'check', '--connect')).stdout).toContain(unreadable);
  expect((await cli.run('config check --connect')).stdout).not.toContain(unreadable);
  expect((await run('listener', 'show', server.slug)).stdout).toMatch(/^Secret: +cannot be read/m);
  expect((await run('listener', 'show', server.slug, '--json')).json).toMatchObject({
    secret_readable: false,
  });
  const worker = await startWorker(
    { ...cli.deps.config, SECRET_KEY: env.SECRET_KEY },
    { args: ['clean-up'] },
  );
  expect(await worker.waitForEvent('secrets.unreadable')).toMatchObject({ level: 'warn', listeners: 1 });
});

test('a database with no server and no account is not backed up: its address is probably wrong', async () => {
  const other = await elsewhere();
  expect(await other.run('backup', folder)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The database “test_\w+” has no server and no account: .* DATA_DIR, /),
  });
});

test('the check of a backup needs no database', async () => {
  const env = { ...cli.env, MONGODB_URI: 'mongodb://127.0.0.1:9/none', SECRET_KEY: '' };
  const dryRun = (more: object) =>
    tallyport(['restore', '--dry-run', '--json', taken], { env: { ...env, ...more } });
  const DATA_DIR = await newFolder();
  expect(await dryRun({ DATA_DIR })).toMatchObject({ code: 0, json: { dry_run: true, secret_key: null } });
  // Stores the key where `npm start` would.
  await mkdir(DATA_DIR);
  await writeFile(join(DATA_DIR, 'secret-key'), `${cli.env.SECRET_KEY}\n`);
  expect(await dryRun({ DATA_DIR })).toMatchObject({ code: 0, json: { secret_key: true } });
});

test('the help of both commands says what they do', async () => {
  expect((await cli.run('backup --help')).stdout).toContain('while the platform runs');
  expect((await cli.run('restore --help')).stdout).toMatch(/held back\s+until you send them/);
});
