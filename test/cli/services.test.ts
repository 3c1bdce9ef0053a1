import { describe, expect, it, onTestFinished } from 'vitest';
import { environment } from './environment.ts';
import { openCli, tallyport } from './tallyport.ts';

const split = (line: string) => line.split(' ');

describe('with MongoDB away', () => {
  it('an invalid address is a configuration error', async () => {
    const env = environment({ MONGODB_URI: 'mongodb://user:pass@word@127.0.0.1/x' });
    const result = await tallyport(['server', 'list', '--json'], { env });

    expect(result).toMatchObject({ code: 1, json: { code: 'configuration' } });
    expect(result.stdout).not.toContain('pass@word');
  });
});

describe('with Redis away', () => {
  it('every command works; one that wakes a worker prints that a worker finds the work later', async () => {
    const cli = await openCli();
    onTestFinished(() => cli.close());
    const env = { ...cli.env, REDIS_URL: 'redis://127.0.0.1:1' };
    const run = (line: string) => tallyport(split(line), { env });
    await run('server add --name Alpha --address a.example --port 1');
    const set = 'listener set alpha --protocol votifier-v2 --host h.example --port 8192 --token abcdef012345';

    const json = await run(`${set} --json`);
    expect(json).toMatchObject({ code: 0, json: { state: 'active' } });
    expect(json.stderr).toMatch(/^Note: Redis does not answer\. Nothing is lost: [^\n]+\n$/);
    expect(await run('token issue alpha --json')).toMatchObject({ code: 0, stderr: '' });
    expect(await run('server remove alpha --yes')).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('the database', () => {
  it('is created by migrate; before that, commands refuse to work on it', async () => {
    const env = environment();
    const run = (line: string) => tallyport(split(line), { env });
    const before = await run('server list --json');
    const migrated = await run('migrate --json');
    const again = await run('migrate');

    expect(before).toMatchObject({ code: 1, json: { code: 'not-migrated' } });
    expect(migrated.json.made).toContain('servers.slug_1');
    expect(again).toMatchObject({ code: 0, stdout: 'The database is up to date.\n', stderr: '' });
    expect(await run('server list')).toMatchObject({ code: 0, stdout: 'No server is listed yet.\n' });
  });
});
