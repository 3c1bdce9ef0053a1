import { describe, expect, it } from 'vitest';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { graphOf } from '../import-graph.ts';
import { tallyport } from './tallyport.ts';

/** Nothing listens at these addresses. The commands must end before they connect. */
const env = {
  ...ownEnvironment(),
  MONGODB_URI: 'mongodb://127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
};
const run = (args: string, input = '') => tallyport(args.split(' ').filter(Boolean), { env, input });

const GROUPS = ['', 'server', 'token', 'listener', 'vote', 'review', 'config', 'operator'];
const COMMANDS = [
  ...['add', 'list', 'show', 'edit', 'remove'].map((name) => `server ${name}`),
  ...['issue', 'list', 'revoke', 'rotate'].map((name) => `token ${name}`),
  ...['set', 'show', 'remove', 'pause', 'resume', 'rotate', 'test'].map((name) => `listener ${name}`),
  ...['list', 'show', 'resend', 'forget'].map((name) => `vote ${name}`),
  ...['add', 'list', 'approve', 'reject'].map((name) => `review ${name}`),
  'migrate',
  'config check',
  ...['create', 'link', 'list'].map((name) => `operator ${name}`),
];

describe('help', () => {
  it.concurrent.each(COMMANDS)('of %s shows usage, options and examples', async (command) => {
    const { code, stdout, stderr } = await run(`${command} --help`);

    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: tallyport ${command}`);
    expect(stdout).toContain('--json');
    expect(stdout).toContain(`Examples:\n  $ node src/cli.ts ${command}`);
    expect(stderr).toBe('');
  });

  it.concurrent.each(GROUPS)('of “%s” lists its commands', async (group) => {
    const { code, stdout } = await run(`${group} --help`);
    const members = COMMANDS.filter((command) => command.startsWith(`${group} `.trimStart()));

    expect(code).toBe(0);
    for (const member of members) {
      expect(stdout).toMatch(new RegExp(`^  ${member.split(' ')[group ? 1 : 0]}\\b`, 'm'));
    }
  });

  it('loads no driver and no schema', () => {
    const loaded = [...graphOf('src/cli.ts', { atOnce: true }).keys()];
    const isPackage = (name: string) => /^@?[\w-]+(\/[\w-]+)?$/.test(name);
    expect(loaded.filter(isPackage)).toEqual(['commander']);
  });

  it('has a version', async () => {
    expect((await run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('wrong use', () => {
  it.concurrent.each([
    ['', 'The command is incomplete.'],
    ['server', 'The command is incomplete.'],
    ['sever list', "Unknown command 'sever' (Did you mean server?)"],
    ['server lst', "Unknown command 'lst' (Did you mean list?)"],
    ['server list --colour', "Unknown option '--colour'"],
    ['server list too much', 'Too many arguments'],
    ['server add --name x --address y', "Required option '--port <port>' not specified."],
    ['server add --name x --address y --port 0', 'It must be a whole number, 1 to 65535.'],
    ['server add --name x --address y --port 1e3', 'It must be a whole number, 1 to 65535.'],
    ['server show', "Missing required argument 'server'."],
    ['server edit alpha', 'Give at least one option to change'],
    ['token issue alpha --expires-in tomorrow', 'It must be a time such as 30s, 15m, 1h or 90d.'],
    ['token issue alpha --expires-in 0d', 'It must be a time such as 30s, 15m, 1h or 90d.'],
    ['vote list alpha --state lost', 'Allowed choices are none, waiting,'],
    ['vote list alpha --limit 1001', 'It must be a whole number, 1 to 1000.'],
    ['review add alpha --username x --rating 6', 'It must be a whole number, 1 to 5.'],
    [
      'listener set alpha --protocol smoke --host h --port 1',
      'Allowed choices are votifier-v1, votifier-v2, http, fetch.',
    ],
    ['operator create', "Required option '--email <address>' not specified."],
    ['listener set alpha --protocol votifier-v2 --host h --port 1', 'votifier-v2 needs --token.'],
    ['listener set alpha --protocol votifier-v1 --host h --port 1', 'votifier-v1 needs --public-key-file.'],
    [
      'listener set alpha --protocol votifier-v1 --host h --port 1 --token t',
      'votifier-v1 needs --public-key-file.',
    ],
    [
      'listener set alpha --protocol votifier-v2 --host h --port 1 --token t --public-key-file f',
      'votifier-v2 takes --host and --port and --token, not --public-key-file.',
    ],
  ])('“%s” returns 2 and prints one sentence', async (args, words) => {
    const { code, stdout, stderr } = await run(args);

    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/^\s+at .+:\d+/m);
  });

  it('is one JSON value with --json, wherever --json is in the arguments', async () => {
    for (const args of ['--json server lst', 'server lst --json', 'server --json']) {
      const result = await run(args);

      expect(result.code).toBe(2);
      expect(result.json).toEqual({ error: expect.any(String), code: 'wrong-use' });
    }
  });
});

describe('a wrong configuration', () => {
  it('returns 1 and prints one line for each error', async () => {
    const wrong = { ...env, PORT: 'x', LOG_LEVEL: 'loud' };
    const plain = await tallyport(['server', 'list'], { env: wrong });
    const json = await tallyport(['server', 'list', '--json'], { env: wrong });

    expect(plain).toMatchObject({ code: 1, stdout: '' });
    expect(plain.stderr.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^ {2}PORT /),
      expect.stringMatching(/^ {2}LOG_LEVEL /),
      '',
    ]);
    expect(json.code).toBe(1);
    expect(json.json).toEqual({ error: expect.stringContaining('PORT'), code: 'configuration' });
  });
});
