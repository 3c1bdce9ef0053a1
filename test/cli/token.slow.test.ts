import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticate, authenticateClaimKey } from '../../src/servers/authenticate-token.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

type Issued = { token_id: string; token: string };

async function issue(server: string, options = ''): Promise<Issued> {
  const result = await cli.run(`token issue ${server} ${options} --json`.replace('  ', ' '));
  expect(result.code).toBe(0);
  return result.json as Issued;
}

async function list(server: string): Promise<Record<string, unknown>[]> {
  return (await cli.run(`token list ${server} --json`)).json.tokens as Record<string, unknown>[];
}

const speaksFor = async (serverId: string, token: string) =>
  (await authenticate(cli.deps, serverId, token)) !== null;

describe('token issue', () => {
  it('makes a token that works, and prints only the token and its id', async () => {
    const { server_id, slug } = await cli.addServer('Issuing');
    const issued = await issue(slug);

    expect(issued).toEqual({ token_id: expect.stringMatching(/^[0-9a-f]{24}$/), token: expect.any(String) });
    expect(await speaksFor(server_id, issued.token)).toBe(true);
  });

  it('shows the token once, in the text output too', async () => {
    const { slug, server_id } = await cli.addServer('Issuing in words');
    const help = await cli.run('token issue --help');
    expect(help.stdout).toMatch(/or never \(default:\s+365d\)/);
    const { stdout } = await cli.run(`token issue ${slug} --name website --expires-in 90d`);
    const token = /^ {2}(tp_\w{36})$/m.exec(stdout)?.[1] ?? '';

    expect(await speaksFor(server_id, token)).toBe(true);
    expect(stdout).toContain('“website”');
    expect(stdout).toContain('(in 3 months)');
    expect((await cli.run(`token list ${slug}`)).stdout).not.toContain(token);
  });

  it('makes a claim key, with the file of VoteReward and a warning where votes are pushed too', async () => {
    const { slug, server_id } = await cli.addServer('Claiming');
    const { json, code } = await cli.run(`token issue ${slug} --kind claim --name EasyVote --json`);
    const { key, vrc } = json as { key: string; vrc: Record<string, string> };
    expect(code).toBe(0);
    expect(key).toMatch(/^tpc_\w{36}$/);
    expect(Object.keys(vrc)).toEqual(['name', 'website', 'check', 'claim']);
    expect(vrc.check).toContain(`key=${key}&username={USERNAME}`);
    expect(json).not.toHaveProperty('warning');
    expect((await authenticateClaimKey(cli.deps, key))?.serverId.toHexString()).toBe(server_id);
    expect((await list(slug)).map(({ kind }) => kind)).toEqual(['claim']);

    await cli.run(
      `listener set ${slug} --protocol votifier-v2 --host play.example.org --port 8192 --token a-token-of-a-test`,
    );
    const { stdout } = await cli.run(`token issue ${slug} --kind claim`);
    expect(stdout).toContain('give each vote twice');
    expect(await cli.run(`listener rewards ${slug} claims --json`)).toMatchObject({
      code: 0,
      json: { rewards: 'claims' },
    });
    expect((await cli.run(`token issue ${slug} --kind claim`)).stdout).not.toContain('give each vote twice');
  });

  it('refuses a name that is too long', async () => {
    const { slug } = await cli.addServer('Long name');
    const result = await cli.run(`token issue ${slug} --name ${'x'.repeat(61)} --json`);

    expect(result).toMatchObject({ code: 1, json: { code: 'invalid-input' } });
  });
});

describe('token list', () => {
  it('shows the id and state of every token, never the token', async () => {
    const { slug } = await cli.addServer('Listing');
    const first = await issue(slug, '--name plugin');
    const second = await issue(slug, '--expires-in 1h');
    await cli.run(`token revoke ${slug} ${first.token_id}`);

    expect(await list(slug)).toEqual([
      {
        token_id: first.token_id,
        name: 'plugin',
        kind: 'api',
        scopes: ['vote', 'status', 'read'],
        prefix: first.token.slice(0, 9),
        state: 'revoked',
        created_at: expect.any(String),
        expires_at: expect.any(String),
        is_old: false,
        revoked_at: expect.any(String),
        last_used_at: null,
        made_by: 'operator',
      },
      expect.objectContaining({ token_id: second.token_id, state: 'valid', expires_at: expect.any(String) }),
    ]);
  });
});

it('a token expires in a year unless another time or never is chosen; old ones are marked', async () => {
  const { slug } = await cli.addServer('Expiring');
  await issue(slug, '--name usual');
  const { token_id } = await issue(slug, '--name endless --expires-in never');
  const days = (await list(slug)).map(
    ({ expires_at: at }) => at && Math.round((Date.parse(String(at)) - Date.now()) / 86_400_000),
  );
  expect(days).toEqual([365, null]);
  const shown = await cli.run(`token issue ${slug} --expires-in never`);
  expect(shown.stdout).toContain('until it is revoked');
  expect((await cli.run(`token issue ${slug} --expires-in sometime`)).code).toBe(2);
  expect((await cli.run(`token list ${slug}`)).stdout).not.toContain('over a year old');
  const createdAt = new Date(Date.now() - 366 * 86_400_000);
  await cli.deps.apiTokens.updateOne({ _id: new ObjectId(token_id) }, { $set: { createdAt } });
  const { stdout } = await cli.run(`token list ${slug}`);
  expect(stdout).toContain('1 valid token is over a year old and never expires.');
  expect(stdout).toContain('never (old)');
  expect((await list(slug)).filter(({ is_old: isOld }) => isOld)).toMatchObject([{ token_id }]);
});

it('a token can have fewer scopes, which a claim key cannot', async () => {
  const { slug } = await cli.addServer('Scoped');
  const made = await cli.run(`token issue ${slug} --scopes read,status --json`);
  expect(made.code).toBe(0);
  expect(await list(slug)).toMatchObject([{ scopes: ['status', 'read'] }]);
  for (const options of ['--scopes write', '--scopes read --kind claim'])
    expect((await cli.run(`token issue ${slug} ${options}`)).code).toBe(2);
});

describe('token revoke', () => {
  it('revokes the only valid token without an id', async () => {
    const { slug, server_id } = await cli.addServer('Revoking');
    const { token, token_id } = await issue(slug);
    const result = await cli.run(`token revoke ${slug} --json`);

    expect(result).toMatchObject({ code: 0, json: { token_id, revoked: true } });
    expect(await speaksFor(server_id, token)).toBe(false);
    expect((await cli.run(`token revoke ${slug} ${token_id}`)).code).toBe(0);
    expect(await cli.run(`token revoke ${slug}`)).toMatchObject({ code: 1, stdout: '' });
  });

  it('asks for the id if there are several, and prints their names', async () => {
    const { slug, server_id } = await cli.addServer('Choosing');
    const [plugin, website] = [await issue(slug, '--name plugin'), await issue(slug, '--name website')];
    const result = await cli.run(`token revoke ${slug}`);

    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(`${plugin.token_id}  plugin`);
    expect(result.stderr).toContain(`${website.token_id}  website`);
    expect(await speaksFor(server_id, plugin.token)).toBe(true);
  });

  it('does not find a token of another server', async () => {
    const { slug } = await cli.addServer('Mine');
    const other = await cli.addServer('Theirs');
    const { token, token_id } = await issue(other.slug);
    const result = await cli.run(`token revoke ${slug} ${token_id} --json`);

    expect(result).toMatchObject({ code: 1, json: { code: 'token-not-found' } });
    expect(await speaksFor(other.server_id, token)).toBe(true);
    expect((await cli.run(`token revoke ${slug} nonsense --json`)).json.code).toBe('token-not-found');
  });
});

describe('token rotate', () => {
  it('makes a new token; the old one stays valid for the overlap', async () => {
    const { slug, server_id } = await cli.addServer('Rotating');
    const old = await issue(slug, '--name plugin');
    const result = await cli.run(`token rotate ${slug} ${old.token_id} --overlap 30m --json`);
    const { token, token_id, old_token_id, old_expires_at } = result.json;

    expect(result.code).toBe(0);
    expect(old_token_id).toBe(old.token_id);
    expect(token_id).not.toBe(old.token_id);
    expect(Math.abs(Date.parse(String(old_expires_at)) - Date.now() - 30 * 60_000)).toBeLessThan(60_000);
    expect(await speaksFor(server_id, String(token))).toBe(true);
    expect(await speaksFor(server_id, old.token)).toBe(true);
    const later = { ...cli.deps, clock: { now: () => new Date(Date.now() + 31 * 60_000) } };
    expect(await authenticate(later, server_id, old.token)).toBeNull();
    expect(await authenticate(later, server_id, String(token))).not.toBeNull();
  });

  it('does not rotate a revoked or unknown token', async () => {
    const { slug } = await cli.addServer('Not rotating');
    const { token_id } = await issue(slug);
    await cli.run(`token revoke ${slug}`);

    for (const id of [token_id, 'nonsense']) {
      const result = await cli.run(`token rotate ${slug} ${id} --json`);
      expect(result).toMatchObject({ code: 1, json: { code: 'token-not-found' } });
    }
  });
});
