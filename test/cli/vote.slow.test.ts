import { UUID } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DELIVERY_QUEUES } from '../../src/listeners/delivery-queues.ts';
import { drainHere } from '../support/delivering.ts';
import { listening } from './listening.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

const show = async (voteId: string) => (await cli.run(`vote show ${voteId} --json`)).json;

describe('vote list', () => {
  it('shows votes newest first, all or in one state', async () => {
    const { slug, server_id } = await cli.addServer('Listed');
    const ids = [
      await cli.cast(server_id, 'Steve'),
      await cli.cast(server_id, '我的世界'),
      await cli.cast(server_id, 'Alex'),
    ];
    const { json } = await cli.run(`vote list ${slug} --json`);
    const { stdout } = await cli.run(`vote list ${slug} --limit 2`);

    expect((json.votes as Record<string, unknown>[])[2]).toEqual({
      vote_id: ids[0],
      username: 'Steve',
      voted_at: expect.stringMatching(/Z$/),
      state: 'none',
      confirmed: null,
      attempt_count: 0,
      last_code: null,
      next_at: null,
      delivered_at: null,
      excluded_at: null,
    });
    expect(stdout.trim().split('\n')).toHaveLength(3);
    expect(stdout).toMatch(new RegExp(`${ids[2]} +Alex +\\S+Z \\(.*\\) +not forwarded +0 +-`));
    expect((await cli.run(`vote list ${slug} --state failed --json`)).json).toEqual({ votes: [] });
    expect((await cli.run(`vote list ${slug} --state failed`)).stdout).toBe('There is no vote to show.\n');
  });
});

describe('vote show', () => {
  it('shows the timeline of a delivered vote', async () => {
    const { slug, server_id } = await listening(cli, 'Delivered');
    const id = await cli.cast(server_id, 'Steve');
    expect((await show(id)).waiting_for).toEqual({
      kind: 'turn',
      at: null,
      code: null,
      cause: null,
      votes_ahead: 0,
    });
    await drainHere(cli.deps, server_id);
    const json = await show(id);
    const { stdout } = await cli.run(`vote show ${id}`);

    expect(json).toMatchObject({
      vote_id: id,
      server_id,
      server_slug: slug,
      username: 'Steve',
      token_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      state: 'delivered',
      confirmed: true,
      may_have_arrived_twice: false,
      waiting_for: null,
      delivered_at: expect.any(String),
      attempt_count: 1,
      ends: { delivered: 1 },
      attempts: [
        {
          attempt_id: expect.any(String),
          number: 1,
          woken_by: 'cast',
          relayed: false,
          late_at: null,
          at: expect.stringMatching(/Z$/),
          worker: expect.any(String),
          protocol: 'votifier-v2',
          test: false,
          reached: 'acknowledged',
          class: 'delivered',
          code: 'acknowledged',
          words: null,
          duration_ms: expect.any(Number),
        },
      ],
      events: [],
    });
    expect(Date.parse(String(json.next_vote_at)) - Date.parse(String(json.voted_at))).toBe(24 * 3_600_000);
    expect(stdout).toMatch(/State: +delivered\nDelivery: +Delivered on \d{4}-\S+Z \(/);
    expect(stdout).toMatch(
      /Z +accepted\n\S+Z +attempt 1: delivered \(acknowledged\) +the vote +acknowledged +\d+ ms/,
    );
  });

  it('shows what a vote waits for, and why', async () => {
    const { slug, server_id, listener } = await listening(cli, 'Waiting');
    await listener.stop();
    const id = await cli.cast(server_id, 'Steve');
    await drainHere(cli.deps, server_id);
    expect(await show(id)).toMatchObject({
      state: 'waiting',
      waiting_for: { kind: 'own-retry', at: expect.any(String) },
      attempts: [{ class: 'transient', code: 'connection-refused', reached: 'resolved' }],
    });
    await cli.run(`listener pause ${slug}`);
    expect((await show(id)).waiting_for).toMatchObject({ kind: 'resume', cause: 'Its owner paused it.' });
    const { stdout } = await cli.run(`vote show ${id}`);
    expect(stdout).toMatch(
      /State: +waiting\nDelivery: +Waiting until the listener is resumed\. Its owner paused it\. It expires .* \(in 3 days\)\./,
    );
    expect(stdout).toContain(
      'The machine answers, but nothing listens at this address and port, or a firewall rejects the connection.',
    );
  });

  it.each(DELIVERY_QUEUES)('says that %s is paused, as its listener does', async (name) => {
    const { slug, server_id } = await listening(cli, `Held by ${name}`);
    const id = await cli.cast(server_id, 'Steve');
    const queue = cli.deps.queues[name];
    await queue.pause();
    onTestFinished(() => queue.resume());

    expect(await show(id)).toMatchObject({ state: 'waiting', queue_paused: true });
    expect((await cli.run(`vote show ${id}`)).stdout).toMatch(
      /State: +waiting\nDelivery: +Waiting: the operator .* has paused vote delivery.*\nQueue: +A delivery queue is paused/,
    );
    expect((await cli.run(`listener show ${slug}`)).stdout).toMatch(
      /State: +active\nQueue: +A delivery queue is paused/,
    );
    await queue.resume();
    expect((await show(id)).queue_paused).toBe(false);
  });

  it('shows that a listener was removed', async () => {
    const { slug, server_id } = await listening(cli, 'Removed');
    const id = await cli.cast(server_id, 'Steve');
    await cli.run(`listener remove ${slug}`);

    expect((await cli.run(`vote show ${id}`)).stdout).toMatch(
      /State: +not forwarded\nDelivery: +The vote listener was removed/,
    );
  });

  it('does not count an attempt that was released', async () => {
    const { server_id, listener } = await listening(cli, 'Given back');
    await listener.stop();
    const id = await cli.cast(server_id, 'Steve');
    await drainHere(cli.deps, server_id);
    const { votes } = cli.deps;
    const one = await votes.findOne({ _id: new UUID(id) });
    const [attempt] = one?.delivery.attempts ?? [];
    if (!attempt) throw new Error('nothing was tried');
    const back = { ...attempt, id: new UUID(), class: 'none', code: 'stopped-before-written' } as const;
    await votes.updateOne({ _id: new UUID(id) }, { $set: { 'delivery.attempts': [back, attempt] } });
    const { stdout } = await cli.run(`vote show ${id}`);

    expect(stdout).toContain('attempt, not counted: none (stopped-before-written)');
    expect(stdout).toContain('attempt 1: transient (connection-refused)');
  });

  it('shows the answer of a listener that refuses', async () => {
    const { slug, server_id, listener } = await listening(cli, 'Refusing');
    listener.tokens = { default: 'changed' };
    const id = await cli.cast(server_id, 'Steve');
    await drainHere(cli.deps, server_id);

    expect((await show(id)).attempts).toEqual([
      expect.objectContaining({
        code: 'bad-signature',
        words: expect.stringContaining('Signature is not valid'),
      }),
    ]);
    expect((await cli.run(`vote show ${id}`)).stdout).toMatch(
      /the listener answered “.*Signature is not valid/,
    );
    expect((await cli.run(`listener show ${slug} --json`)).json).toMatchObject({
      state: 'paused',
      waiting: 1,
      reason: { code: 'bad-signature', words: expect.stringContaining('Signature is not valid') },
    });
  });

  it('returns an error for an unknown vote', async () => {
    for (const id of ['nonsense', new UUID().toString()]) {
      expect(await cli.run(`vote show ${id} --json`)).toMatchObject({
        code: 1,
        json: { code: 'vote-not-found' },
      });
    }
  });
});
