import { ObjectId, UUID } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { drainListener } from '../../src/delivery/drain-listener.ts';
import { createSend, openListener } from '../../src/delivery/send-vote.ts';
import { VotifierListener } from '../../src/sample/votifier-listener.ts';
import { openTerminal, type Terminal } from './tallyport.ts';

let terminal: Terminal;

beforeAll(async () => {
  terminal = await openTerminal();
});
afterAll(() => terminal.close());

/** Casts as the API does; gives the vote's id. */
/** Sends what is due, as a worker does. */
async function drain(serverId: string): Promise<void> {
  const { platform } = terminal;
  const never = new AbortController().signal;
  await drainListener(
    {
      ...platform,
      send: createSend(platform.config),
      open: (listener) => openListener(platform.secrets, listener),
    },
    new ObjectId(serverId),
    { stop: never, waitNoLonger: never, budgetMs: 10_000 },
  );
}

/** A server whose v2 listener runs. */
async function listening(
  name: string,
): Promise<{ slug: string; server_id: string; listener: VotifierListener }> {
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  const { slug, server_id } = await terminal.addServer(name);
  const { port, token } = listener;
  await terminal.run(
    `listener set ${slug} --protocol votifier-v2 --host 127.0.0.1 --port ${port} --token ${token}`,
  );
  return { slug, server_id, listener };
}

const show = async (voteId: string) => (await terminal.run(`vote show ${voteId} --json`)).json;

describe('vote list', () => {
  it('shows votes newest first, all or in one state', async () => {
    const { slug, server_id } = await terminal.addServer('Listed');
    const ids = [
      await terminal.cast(server_id, 'Steve'),
      await terminal.cast(server_id, '我的世界'),
      await terminal.cast(server_id, 'Alex'),
    ];
    const { json } = await terminal.run(`vote list ${slug} --json`);
    const { stdout } = await terminal.run(`vote list ${slug} --limit 2`);

    expect((json.votes as Record<string, unknown>[])[2]).toEqual({
      vote_id: ids[0],
      username: 'Steve',
      voted_at: expect.stringMatching(/Z$/),
      state: 'none',
      attempt_count: 0,
      last_code: null,
      next_at: null,
      delivered_at: null,
      excluded_at: null,
    });
    expect(stdout.trim().split('\n')).toHaveLength(3);
    expect(stdout).toMatch(new RegExp(`${ids[2]} +Alex +\\S+Z \\(.*\\) +none +0 +-`));
    expect((await terminal.run(`vote list ${slug} --state failed --json`)).json).toEqual({ votes: [] });
    expect((await terminal.run(`vote list ${slug} --state failed`)).stdout).toBe(
      'There is no vote to show.\n',
    );
  });
});

describe('vote show', () => {
  it('tells the whole way of a delivered vote', async () => {
    const { slug, server_id } = await listening('Delivered');
    const id = await terminal.cast(server_id, 'Steve');
    expect((await show(id)).waiting_for).toEqual({ kind: 'turn', at: null });
    await drain(server_id);
    const json = await show(id);
    const { stdout } = await terminal.run(`vote show ${id}`);

    expect(json).toMatchObject({
      vote_id: id,
      server_id,
      server_slug: slug,
      username: 'Steve',
      token_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      state: 'delivered',
      waiting_for: null,
      delivered_at: expect.any(String),
      attempt_count: 1,
      ends: { delivered: 1 },
      attempts: [
        {
          attempt_id: expect.any(String),
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
    expect(stdout).toMatch(/State: +delivered \d{4}-\S+Z \(/);
    expect(stdout).toMatch(/Z +accepted\n\S+Z +attempt 1: delivered \(acknowledged\) +acknowledged +\d+ ms/);
  });

  it('tells what a vote waits for, and why', async () => {
    const { slug, server_id, listener } = await listening('Waiting');
    await listener.stop();
    const id = await terminal.cast(server_id, 'Steve');
    await drain(server_id);
    expect(await show(id)).toMatchObject({
      state: 'waiting',
      waiting_for: { kind: 'own-retry', at: expect.any(String) },
      attempts: [{ class: 'transient', code: 'connection-refused', reached: 'resolved' }],
    });
    await terminal.run(`listener pause ${slug}`);
    expect((await show(id)).waiting_for).toEqual({ kind: 'resume', at: null });
    const { stdout } = await terminal.run(`vote show ${id}`);
    expect(stdout).toMatch(
      /State: +waiting until the listener is resumed: Its owner paused it\.; given up .* \(in 3 days\)/,
    );
    expect(stdout).toContain('The machine answers, but nothing listens on this port.');
  });

  it('says that the queue is paused, as its listener does', async () => {
    const { slug, server_id } = await listening('Held');
    const id = await terminal.cast(server_id, 'Steve');
    const queue = terminal.platform.queues['forward-votes'];
    await queue.pause();
    onTestFinished(() => queue.resume());

    expect(await show(id)).toMatchObject({ state: 'waiting', queue_paused: true });
    expect((await terminal.run(`vote show ${id}`)).stdout).toMatch(
      /State: +waiting until the queue is resumed; .*\nQueue: +«Forward votes» is paused/,
    );
    expect((await terminal.run(`listener show ${slug}`)).stdout).toMatch(
      /State: +active\nQueue: +«Forward votes» is paused/,
    );
    await queue.resume();
    expect((await show(id)).queue_paused).toBe(false);
  });

  it('tells of a listener that was removed', async () => {
    const { slug, server_id } = await listening('Removed');
    const id = await terminal.cast(server_id, 'Steve');
    await terminal.run(`listener remove ${slug}`);

    expect((await terminal.run(`vote show ${id}`)).stdout).toMatch(
      /State: +none: the vote listener was removed/,
    );
  });

  it('counts no attempt that was given back', async () => {
    const { server_id, listener } = await listening('Given back');
    await listener.stop();
    const id = await terminal.cast(server_id, 'Steve');
    await drain(server_id);
    const { votes } = terminal.platform;
    const one = await votes.findOne({ _id: new UUID(id) });
    const [attempt] = one?.delivery.attempts ?? [];
    if (!attempt) throw new Error('nothing was tried');
    const back = { ...attempt, id: new UUID(), class: 'none', code: 'stopped-before-written' } as const;
    await votes.updateOne({ _id: new UUID(id) }, { $set: { 'delivery.attempts': [back, attempt] } });
    const { stdout } = await terminal.run(`vote show ${id}`);

    expect(stdout).toContain('attempt, not counted: none (stopped-before-written)');
    expect(stdout).toContain('attempt 1: transient (connection-refused)');
  });

  it('shows the words of a listener that refuses', async () => {
    const { slug, server_id, listener } = await listening('Refusing');
    listener.tokens = { default: 'changed' };
    const id = await terminal.cast(server_id, 'Steve');
    await drain(server_id);

    expect((await show(id)).attempts).toEqual([
      expect.objectContaining({
        code: 'bad-signature',
        words: expect.stringContaining('Signature is not valid'),
      }),
    ]);
    expect((await terminal.run(`vote show ${id}`)).stdout).toMatch(
      /the listener said «.*Signature is not valid/,
    );
    expect((await terminal.run(`listener show ${slug} --json`)).json).toMatchObject({
      state: 'paused',
      waiting: 1,
      reason: { code: 'bad-signature', words: expect.stringContaining('Signature is not valid') },
    });
  });

  it('knows no vote that is not there', async () => {
    for (const id of ['nonsense', new UUID().toString()]) {
      expect(await terminal.run(`vote show ${id} --json`)).toMatchObject({
        code: 1,
        json: { code: 'vote-not-found' },
      });
    }
  });
});

describe('vote resend', () => {
  it('puts a vote into the line once', async () => {
    const { slug, server_id } = await terminal.addServer('Resending');
    const id = await terminal.cast(server_id, 'Steve');
    const without = await terminal.run(`vote resend ${id} --json`);
    await terminal.run(
      `listener set ${slug} --protocol votifier-v2 --host 127.0.0.1 --port 8192 --token abcdef0123456789`,
    );
    const first = await terminal.run(`vote resend ${id} --json`);
    const second = await terminal.run(`vote resend ${id} --json`);

    expect(without).toMatchObject({ code: 1, json: { code: 'no-listener' } });
    expect(first.json).toEqual({ vote_id: id, resent: true, from: 'none', may_arrive_twice: false });
    expect(second).toMatchObject({ code: 1, json: { code: 'under-way' } });
    expect(await show(id)).toMatchObject({ state: 'waiting', events: [{ kind: 'resent' }] });
    expect((await terminal.run(`vote show ${id}`)).stdout).toMatch(/Z +resent/);
    expect((await terminal.run(`server remove ${slug} --yes --json`)).json.failed_votes).toBe(1);
    expect(await show(id)).toMatchObject({
      state: 'failed',
      events: [{ kind: 'resent' }, { kind: 'server-removed' }],
    });
  });

  it('warns when the vote may arrive twice', async () => {
    const { server_id } = await listening('Twice');
    const id = await terminal.cast(server_id, 'Steve');
    await drain(server_id);

    expect((await terminal.run(`vote resend ${id}`)).stdout).toBe(
      'The vote of «Steve» is in the line again. It may have arrived before, and arrives twice then.\n',
    );
  });

  it('puts a server’s votes of a time into the line, in the states that were named', async () => {
    const { server_id, slug } = await listening('Range');
    for (const name of ['Alex', 'Steve']) await terminal.cast(server_id, name);
    await drain(server_id);
    const since = '--since 2026-01-01';
    const none = await terminal.run(`vote resend ${slug} ${since}`);
    const delivered = await terminal.run(`vote resend ${slug} ${since} --state delivered`);
    const again = await terminal.run(`vote resend ${slug} ${since} --state delivered --json`);

    expect(none.stdout).toMatch(
      /^No vote to send again: there is none in the state none or failed, cast from 2026-01-01T/,
    );
    expect(delivered.stdout).toMatch(
      /^2 votes in the line again .*\n2 of them may have arrived before, and arrive twice then\.\n$/s,
    );
    expect(again.json).toMatchObject({ resent: 0, may_arrive_twice: 0, more: false, states: ['delivered'] });
  });

  it.each([
    ['alpha --until 2026-11-21', '--until and --state need --since.'],
    ['alpha --since 2026-11-22 --until 2026-11-21', '--since must be before --until.'],
    ['alpha --since yesterday', /2026-11-20/],
    ['alpha --since 2026-11-20 --state waiting', /none, delivered, unconfirmed, failed/],
  ])('refuses «%s»', async (line, error) => {
    const ended = await terminal.run(`vote resend ${line} --json`);
    expect(ended).toMatchObject({ code: 2, json: { code: 'wrong-use' } });
    expect(ended.json.error).toMatch(error);
  });

  it('knows no vote that is not there', async () => {
    expect((await terminal.run(`vote resend ${new UUID()} --json`)).json.code).toBe('vote-not-found');
  });
});

describe('vote forget', () => {
  it('ends a player’s 24 hours, in any spelling; the vote stays', async () => {
    const { slug, server_id } = await terminal.addServer('Forgetting');
    const id = await terminal.cast(server_id, 'Steve');
    const first = await terminal.run(`vote forget ${slug} sTEVE --json`);
    const second = await terminal.run(`vote forget ${slug} Steve`);

    expect(first).toMatchObject({ code: 0, json: { server_id, username: 'sTEVE', forgotten: true } });
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was done') });
    expect((await show(id)).cooldown_ended_at).toEqual(expect.any(String));
    expect(await terminal.cast(server_id, 'Steve')).not.toBe(id);
    expect(await terminal.platform.auditLog.findOne({ action: 'vote.forget' })).toMatchObject({ by: 'cli' });
  });

  it('refuses what is no name', async () => {
    const { slug } = await terminal.addServer('Forgetting nobody');

    expect((await terminal.run(`vote forget ${slug} --json`, ' ')).json.code).toBe('invalid-input');
  });
});
