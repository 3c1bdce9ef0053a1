import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openListener } from '../../src/delivery/send-vote.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { makeApiToken } from '../../src/servers/token-text.ts';
import { setV2 } from './listening.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;
let folder: string;

beforeAll(async () => {
  cli = await openCli();
  folder = await mkdtemp(join(tmpdir(), 'tallyport-cli-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await cli.close();
});

describe('listener set and show', () => {
  it('sets a v2 listener and shows its state, never its token', async () => {
    const { slug, server_id } = await cli.addServer('Two');
    const result = await setV2(cli, slug, { port: 8192, token: 'abcdef0123456789' });
    const shown = await cli.run(`listener show ${slug} --json`);

    expect(result.code).toBe(0);
    expect(shown.json).toEqual(result.json);
    expect(shown.json).toEqual({
      server_id,
      listener_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      protocol: 'votifier-v2',
      host: '127.0.0.1',
      port: 8192,
      url: null,
      service_name: 'Tallyport',
      names_may_be_mangled: false,
      state: 'active',
      reason: null,
      queue_paused: false,
      secret_readable: true,
      waiting: 0,
      unconfirmed: 0,
      sent_not_confirmed: 0,
      max_sendings: 3,
      last_refused: null,
      last_fetched_at: null,
      fetched_by: null,
      next_test_at: null,
      limited_until: null,
      limited_by: null,
      failures: 0,
      last_failure: null,
      last_delivered_at: null,
      last_delivery_confirmed: null,
      revision: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const plain = await cli.run(`listener show ${slug}`);
    expect(plain.stdout).toMatch(/State: +active\n/);
    expect(plain.stdout).not.toContain('abcdef0123456789');
  });

  it('reads a v1 key from a file', async () => {
    const { slug, server_id } = await cli.addServer('One');
    const file = join(folder, 'public.key');
    const { publicKeyLine } = new VotifierListener();
    await writeFile(file, `${publicKeyLine}\n`);
    const result = await cli.run(
      `listener set ${slug} --protocol votifier-v1 --host Mc.example.org --port 8192 --public-key-file ${file}`,
    );
    const listener = await cli.deps.listeners.findOne({ serverId: new ObjectId(server_id) });

    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toContain('mc.example.org:8192 (votifier-v1)');
    expect(result.stdout).toContain(`node src/cli.ts listener test ${slug}`);
    expect(listener && openListener(cli.deps.secrets, listener).protocol).toBe('votifier-v1');
  });

  it('prints the secret of an http listener once, and a new one after rotation', async () => {
    const { slug } = await cli.addServer('Web');
    const set = (path: string) =>
      cli.run(`listener set ${slug} --protocol http --url https://example.org/${path} --json`);
    const first = await set('votes');
    const moved = await set('elsewhere');
    const rotated = await cli.run(`listener rotate ${slug} --json`);
    const shown = await cli.run(`listener show ${slug}`);

    expect(first).toMatchObject({ code: 0, json: { protocol: 'http', url: 'https://example.org/votes' } });
    expect(first.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(moved.json.url).toBe('https://example.org/elsewhere');
    expect(moved.json).not.toHaveProperty('secret');
    expect(rotated.json.secret).toMatch(/^whsec_/);
    expect(rotated.json.secret).not.toBe(first.json.secret);
    expect(Date.parse(String(rotated.json.previous_valid_until))).toBeGreaterThan(Date.now());
    expect(shown.stdout).toMatch(/Address: +https:\/\/example\.org\/elsewhere\n/);
    expect(shown.stdout).not.toContain('whsec_');
  });

  it.each([
    ['--protocol http --host h', 'http needs --url.'],
    ['--protocol http --url https://a.example/ --port 1', 'http takes --url, not --port.'],
    ['--protocol votifier-v2 --host h', 'votifier-v2 needs --port and --token.'],
    [
      '--protocol votifier-v2 --host h --port 1 --token abcdefgh --url https://a.example/',
      'votifier-v2 takes --host and --port and --token, not --url.',
    ],
  ])('refuses %s: each protocol has its own options', async (options, error) => {
    const result = await cli.run(`listener set alpha ${options} --json`);
    expect(result).toMatchObject({ code: 2, json: { code: 'wrong-use', error } });
  });

  it('does not change the service name unless it is given', async () => {
    const { slug } = await cli.addServer('Named');
    const target = { port: 8192, token: 'abcdef0123456789' };
    const first = await setV2(cli, slug, target, ' --service-name MySite');
    const second = await setV2(cli, slug, { ...target, port: 8193 });

    expect([first.json.service_name, second.json.service_name]).toEqual(['MySite', 'MySite']);
    expect(second.json.port).toBe(8193);
  });

  it('refuses a malformed key or token, with its code', async () => {
    const { slug } = await cli.addServer('Shapeless');
    const file = join(folder, 'not-a.key');
    await writeFile(file, 'abcdef0123456789');
    const v1 = (path: string) =>
      cli.run(
        `listener set ${slug} --protocol votifier-v1 --host h --port 1 --public-key-file ${path} --json`,
      );

    const token = await setV2(cli, slug, { port: 8192, token: new VotifierListener().publicKeyLine });
    expect(token).toMatchObject({ code: 1, json: { code: 'token-malformed' } });
    expect(await v1(file)).toMatchObject({ code: 1, json: { code: 'key-invalid' } });
    expect(await v1(join(folder, 'nowhere'))).toMatchObject({ code: 1, json: { code: 'file-unreadable' } });
    expect(await setV2(cli, slug, { port: 25, token: 'abcdef0123456789' })).toMatchObject({
      code: 1,
      json: { code: 'invalid-input' },
    });
    expect((await cli.run(`listener show ${slug} --json`)).json.code).toBe('no-listener');
  });

  it('says in a sentence that the key file does not exist', async () => {
    const set = (path: string) =>
      cli.run(`listener set alpha --protocol votifier-v1 --host h --port 1 --public-key-file ${path} --json`);

    expect((await set('/nope')).json.error).toMatch(/^There is no file “\/nope”: /);
    expect((await set(folder)).json.error).toContain(`“${folder}” is a folder`);
  });

  it('refuses an API token of the listing', async () => {
    const { slug } = await cli.addServer('Own token');
    const result = await setV2(cli, slug, { port: 8192, token: makeApiToken() });

    expect(result).toMatchObject({ code: 1, json: { code: 'token-malformed' } });
    expect(result.json.error).toMatch(/^This is an API token of this listing/);
  });

  it('warns only of an address that Tallyport does not connect to', async () => {
    const { slug } = await cli.addServer('Private');
    const set = (host: string) =>
      cli.run(
        `listener set ${slug} --protocol votifier-v2 --host ${host} --port 1 --token abcdef0123456789 --json`,
      );
    const refused = await set('10.0.0.1');

    expect(refused).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Warning: 10\.0\.0\.1 is not a public address \(private\): .*\.\n$/),
      json: { host: '10.0.0.1', warning: expect.stringContaining('ALLOWED_PRIVATE_RANGES') },
    });
    for (const host of ['127.0.0.1', '2606:4700::1', 'localhost']) {
      const accepted = await set(host);
      expect(accepted).toMatchObject({ code: 0, stderr: '' });
      expect(accepted.json).not.toHaveProperty('warning');
    }
  });

  it('says why a listener is unreachable and what to do', async () => {
    const { slug, server_id } = await cli.addServer('Unreachable');
    await setV2(cli, slug, { port: 8192, token: 'abcdef0123456789' });
    const openSince = new Date('2026-11-21T14:02:00.000Z');
    const nextTestAt = new Date('2026-11-21T14:12:00.000Z');
    await cli.deps.listeners.updateOne(
      { serverId: new ObjectId(server_id) },
      { $set: { breaker: { failures: 3, tests: 0, openSince, nextTestAt, code: 'connection-refused' } } },
    );
    const { json } = await cli.run(`listener show ${slug} --json`);
    const { stdout } = await cli.run(`listener show ${slug}`);

    expect(json).toMatchObject({
      state: 'unreachable',
      reason: {
        code: 'connection-refused',
        cause: expect.stringContaining('nothing listens at this address and port'),
        mend: expect.stringContaining('8192'),
        words: null,
        since: openSince.toISOString(),
      },
      next_test_at: nextTestAt.toISOString(),
    });
    expect(stdout).toMatch(/State: +unreachable since 2026-11-21T14:02:00Z \(/);
    expect(stdout).toMatch(
      /Cause: +The machine answers, but nothing listens at this address and port, or a firewall rejects the connection\. \(connection-refused\)/,
    );
    expect(stdout).toMatch(/Next test: +2026-11-21T14:12:00Z/);
  });
});

it('listener show names the player of the last refused vote, with the listener’s words', async () => {
  const { slug, server_id } = await cli.addServer('Refusing');
  await setV2(cli, slug, { port: 8192, token: 'abcdef0123456789' });
  const id = await cli.cast(server_id, 'Nobody');
  const refused = { code: 'vote-refused', class: 'vote-only', at: new Date(), words: 'no such player' };
  await cli.deps.votes.updateOne({ serverId: new ObjectId(server_id) }, {
    $set: { 'delivery.state': 'failed', 'delivery.attempts': [refused] },
  } as never);
  const { json } = await cli.run(`listener show ${slug} --json`);
  expect(json.last_refused).toMatchObject({ vote_id: id, username: 'Nobody', words: 'no such player' });
  const { stdout } = await cli.run(`listener show ${slug}`);
  expect(stdout).toMatch(/Last refused: +“Nobody” \(.*\), .*: “no such player”/);
});

describe('listener pause, resume and remove', () => {
  it('pause and resume by its owner', async () => {
    const { slug } = await cli.addServer('Pausing');
    await setV2(cli, slug, { port: 8192, token: 'abcdef0123456789' });
    const paused = await cli.run(`listener pause ${slug} --json`);
    const shown = await cli.run(`listener show ${slug}`);
    const resumed = await cli.run(`listener resume ${slug}`);

    expect(paused.json).toMatchObject({
      state: 'paused',
      reason: { code: null, cause: 'Its owner paused it.' },
      next_test_at: null,
    });
    expect(shown.stdout).toMatch(/State: +paused since /);
    expect(resumed).toMatchObject({
      code: 0,
      stdout: `The listener of ${slug} is active; 0 votes waiting.\n`,
    });
  });

  it('removes it once', async () => {
    const { slug, server_id } = await cli.addServer('Removing');
    await setV2(cli, slug, { port: 8192, token: 'abcdef0123456789' });
    const first = await cli.run(`listener remove ${slug} --json`);

    expect(first).toMatchObject({ code: 0, json: { server_id, removed: true, released_votes: 0 } });
    for (const command of ['remove', 'show', 'pause', 'resume', 'test']) {
      const result = await cli.run(`listener ${command} ${slug} --json`);
      expect(result).toMatchObject({ code: 1, json: { code: 'no-listener' } });
    }
  });
});
