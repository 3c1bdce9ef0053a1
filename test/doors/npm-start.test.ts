import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { isAlive } from '../../src/own-services/process-identity.ts';
import { tallyport as tallyportInProcess } from '../cli/tallyport.ts';
import { spawnTallyport } from '../cli/tallyport-process.ts';
import { freshDataFolder } from '../own-services/data-folder.ts';
import { address, childrenOf, exitCode, lives, start } from '../own-services/npm-start.ts';

test('with npm start and the command line a server is listed, a vote of the API arrives at its listener once, and one signal ends everything', async () => {
  const data = await freshDataFolder();
  // Its processes get the key as a value.
  const file = join(data.dir, 'given-key');
  await mkdir(data.dir, { recursive: true });
  await writeFile(file, 'k3y-for-tests-0123456789-abcdefghij\n');
  const env = {
    ...data.env,
    NODE_ENV: 'test',
    PORT: '0',
    METRICS_PORT: '0',
    SECRET_KEY_FILE: file,
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
  };
  const started = start(env);
  const url = await address(started);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(started.stdout()).toContain(`DATA_DIR=${data.dir} npm run -s tallyport -- --help`);

  const commandBy = (run: typeof spawnTallyport) => async (command: string) => {
    const { code, stderr, json } = await run([...command.split(' '), '--json'], { env });
    expect([code, stderr], command).toEqual([0, '']);
    return json;
  };
  const tallyport = commandBy(spawnTallyport);
  // The same commands without a process of their own, whose start costs more than the command.
  const tallyportHere = commandBy(tallyportInProcess);
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  const { server_id } = await tallyport('server add --name Alpha --address play.example.org --port 25565');
  const at = `--host 127.0.0.1 --port ${listener.port} --token ${listener.token}`;
  const [{ token }] = await Promise.all([
    tallyportHere('token issue alpha'),
    tallyportHere(`listener set alpha --protocol votifier-v2 ${at}`),
  ]);

  const vote = async (bearer: unknown) => {
    const answer = await fetch(`${url}/api/v1/servers/${server_id}/vote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'Steve' }),
    });
    return { status: answer.status, id: answer.headers.get('vote-id'), body: await answer.json() };
  };
  const { status, id, body } = await vote(token);
  expect([status, body]).toMatchObject([200, { success: true, monthly_votes: 1 }]);
  expect(await vote(token)).toMatchObject({ status: 429, body: { code: 'cooldown' } });
  expect(await vote('wrong')).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
  await expect.poll(() => listener.votes).toMatchObject([{ username: 'Steve', uuid: id }]);
  const [listed] = (await tallyport('vote list alpha')).votes as Record<string, unknown>[];
  expect(listed).toMatchObject({
    vote_id: id,
    state: 'delivered',
    confirmed: true,
    attempt_count: 1,
  });

  const { mongod, redis } = await data.record();
  const children = await childrenOf(started.pid);
  expect([...children.keys()].toSorted()).toEqual(
    expect.arrayContaining(['main', 'mongod', 'scheduler', 'web']),
  );
  started.child.kill('SIGINT');
  expect(await exitCode(started)).toBe(0);
  expect([...children.values()].filter(lives)).toEqual([]);
  expect([await isAlive(mongod), await isAlive(redis)]).toEqual([false, false]);
  await expect(data.record()).rejects.toThrow('ENOENT');
  expect(started.stderr()).toBe('');
  expect(listener.votes).toHaveLength(1);
  const complaints = started.stdout().match(/^.*(unexpectedly|"level":"(error|warn)").*$/gm) ?? [];
  expect(complaints.filter((line) => !line.includes('config.private_ranges'))).toEqual([]);
});
