import { UUID } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drainHere } from '../support/delivering.ts';
import { listening } from './listening.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

const show = async (voteId: string) => (await cli.run(`vote show ${voteId} --json`)).json;

describe('vote resend', () => {
  it('puts a vote into the queue once', async () => {
    const { slug, server_id } = await cli.addServer('Resending');
    const id = await cli.cast(server_id, 'Steve');
    const without = await cli.run(`vote resend ${id} --json`);
    await cli.run(
      `listener set ${slug} --protocol votifier-v2 --host 127.0.0.1 --port 8192 --token abcdef0123456789`,
    );
    const first = await cli.run(`vote resend ${id} --json`);
    const second = await cli.run(`vote resend ${id} --json`);

    expect(without).toMatchObject({ code: 1, json: { code: 'no-listener' } });
    expect(first.json).toEqual({ vote_id: id, resent: true, from: 'none', may_arrive_twice: false });
    expect(second).toMatchObject({ code: 1, json: { code: 'under-way' } });
    const resent = { kind: 'resent', by: 'cli', from: 'none', may_arrive_twice: false };
    expect(await show(id)).toMatchObject({ state: 'waiting', events: [resent] });
    expect((await cli.run(`vote show ${id}`)).stdout).toMatch(/Z +resent by cli$/m);
    expect((await cli.run(`server remove ${slug} --yes --json`)).json.failed_votes).toBe(1);
    expect(await show(id)).toMatchObject({
      state: 'failed',
      events: [{ kind: 'resent' }, { kind: 'server-removed' }],
    });
  });

  it('warns when the vote may arrive twice', async () => {
    const { server_id } = await listening(cli, 'Twice');
    const id = await cli.cast(server_id, 'Steve');
    await drainHere(cli.deps, server_id);

    expect((await cli.run(`vote resend ${id}`)).stdout).toBe(
      'The vote of “Steve” is in the queue again. It may have arrived already, and may arrive twice.\n',
    );
  });

  it('puts a server’s votes of a time range into the queue, in the given states', async () => {
    const { server_id, slug } = await listening(cli, 'Range');
    for (const name of ['Alex', 'Steve']) await cli.cast(server_id, name);
    await drainHere(cli.deps, server_id);
    const since = '--since 2026-01-01';
    const none = await cli.run(`vote resend ${slug} ${since}`);
    const delivered = await cli.run(`vote resend ${slug} ${since} --state delivered`);
    const again = await cli.run(`vote resend ${slug} ${since} --state delivered --json`);

    expect(none.stdout).toMatch(
      /^Nothing was resent: no vote to send is in the state none or failed, cast from 2026-01-01T/,
    );
    expect(delivered.stdout).toMatch(
      /^2 votes in the queue again .*\n2 of them may have arrived already, and may arrive twice\.\n$/s,
    );
    expect(again.json).toMatchObject({ resent: 0, may_arrive_twice: 0, more: false, states: ['delivered'] });
  });

  it.each([
    ['alpha --until 2026-11-21', '--until, --state and --may-arrive-twice need --since.'],
    ['alpha --since 2026-11-22 --until 2026-11-21', '--since must be before --until.'],
    ['alpha --since yesterday', /2026-11-20/],
    ['alpha --since 2026-11-20 --state waiting', /none, delivered, unconfirmed, failed/],
  ])('refuses “%s”', async (line, error) => {
    const result = await cli.run(`vote resend ${line} --json`);
    expect(result).toMatchObject({ code: 2, json: { code: 'wrong-use' } });
    expect(result.json.error).toMatch(error);
  });

  it('returns an error for an unknown vote', async () => {
    expect((await cli.run(`vote resend ${new UUID()} --json`)).json.code).toBe('vote-not-found');
  });
});

describe('vote forget', () => {
  it('ends a player’s 24 hours, in any spelling; the vote is not removed', async () => {
    const { slug, server_id } = await cli.addServer('Forgetting');
    const id = await cli.cast(server_id, 'Steve');
    const first = await cli.run(`vote forget ${slug} sTEVE --json`);
    const second = await cli.run(`vote forget ${slug} Steve`);

    expect(first).toMatchObject({ code: 0, json: { server_id, username: 'sTEVE', forgotten: true } });
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was changed') });
    expect((await show(id)).cooldown_ended_at).toEqual(expect.any(String));
    expect(await cli.cast(server_id, 'Steve')).not.toBe(id);
    expect(await cli.deps.auditLog.findOne({ action: 'vote.forget' })).toMatchObject({ by: 'cli' });
  });

  it('refuses an invalid name', async () => {
    const { slug } = await cli.addServer('Forgetting nobody');

    expect((await cli.run(`vote forget ${slug} --json`, ' ')).json.code).toBe('invalid-input');
  });
});
