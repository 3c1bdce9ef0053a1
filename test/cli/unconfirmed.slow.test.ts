import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import {
  keyLine,
  OTHER,
  RIGHT,
  start,
  TOKEN,
  votifier19,
  votifierPlus,
} from '../delivery/known-listeners.ts';
import { drainHere } from '../support/delivering.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

/** Lists a server with a v1 listener. */
async function v1Server(name: string, port: number, secret = keyLine(RIGHT)) {
  const { slug, server_id } = await cli.addServer(name);
  const settings = {
    protocol: 'votifier-v1',
    host: '127.0.0.1',
    port,
    secret,
    serviceName: 'Tallyport',
  } as const;
  await setListener(cli.deps, new ObjectId(server_id), settings, 'test');
  return { slug, server_id };
}

describe('a v1 listener that closes without an answer', () => {
  it('is “sent, not confirmed” in the text, JSON and exit code of a test', async () => {
    const { slug } = await v1Server('Bare close', await start(votifier19()));
    const json = await cli.run(`listener test ${slug} --json`);
    const plain = await cli.run(`listener test ${slug}`);
    expect(json).toMatchObject({
      code: 3,
      json: { outcome: 'sent-not-confirmed', confirmed: false, fault: null, step: 'key-or-token' },
    });
    expect(plain.code).toBe(3);
    expect(plain.stdout).toMatch(/^Outcome: +sent, not confirmed\nReached: +key or token\n/);
  });

  it('has votes that show as “sent, not confirmed” in the list, the timeline and the listener', async () => {
    const { slug, server_id } = await v1Server('Bare votes', await start(votifier19()));
    const id = await cli.cast(server_id, 'Steve');
    await drainHere(cli.deps, server_id);
    expect((await cli.run(`vote list ${slug}`)).stdout).toMatch(/Steve .* sent, not confirmed +1 /);
    expect((await cli.run(`vote list ${slug} --json`)).json).toMatchObject({
      votes: [{ state: 'delivered', confirmed: false }],
    });
    expect((await cli.run(`vote show ${id}`)).stdout).toMatch(/^State: +sent, not confirmed$/m);
    const shown = await cli.run(`listener show ${slug}`);
    expect(shown.stdout).toMatch(/^Last delivered: +\S+ \(.*\), not confirmed$/m);
  });
});

it('votes that a wrong v1 key has used up are counted, found, and resent when the owner wants it', async () => {
  const { deps } = cli;
  const port = await start(votifierPlus());
  const { slug, server_id } = await v1Server('Wrong v1 key', port, keyLine(OTHER));
  for (const player of ['Steve', 'Alex']) await cli.cast(server_id, player);
  await drainHere(deps, server_id);
  const rightKey = path.join(await mkdtemp(path.join(tmpdir(), 'tallyport-key-')), 'public.key');
  await writeFile(rightKey, keyLine(RIGHT));
  const offer = /^Sent, not confirmed: +2 votes that nothing confirmed, .* --state sent-not-confirmed$/m;
  expect((await cli.run(`listener show ${slug}`)).stdout).toMatch(offer);

  const set = `listener set ${slug} --protocol votifier-v1 --host 127.0.0.1 --port ${port} --public-key-file ${rightKey}`;
  expect((await cli.run(set)).stdout).toMatch(offer);
  expect((await cli.run(`listener show ${slug}`)).stdout).toMatch(
    /^Last delivered: +none with these settings$/m,
  );
  expect((await cli.run(`listener show ${slug} --json`)).json).toMatchObject({
    last_delivered_at: null,
    last_delivery_confirmed: null,
  });
  // If the key has not changed: no offer, and nothing is sent automatically.
  expect((await cli.run(set)).stdout).not.toMatch(offer);
  expect((await cli.run(`${set} --json`)).json).toMatchObject({ waiting: 0, sent_not_confirmed: 2 });
  await cli.cast(server_id, 'Confirmed');
  await drainHere(deps, server_id);

  const since = `vote resend ${slug} --since 2026-01-01`;
  expect((await cli.run(since)).stdout).toMatch(/^2 votes of this time range are sent, not confirmed /m);
  expect((await cli.run(`vote list ${slug} --state sent-not-confirmed --json`)).json).toMatchObject({
    votes: [{ username: 'Alex' }, { username: 'Steve' }],
  });
  expect((await cli.run(`${since} --state sent-not-confirmed --json`)).json).toMatchObject({
    states: ['sent-not-confirmed'],
    resent: 2,
    may_arrive_twice: 2,
    sent_not_confirmed: 0,
  });
  await drainHere(deps, server_id);
  expect((await cli.run(`vote list ${slug} --json`)).json).toMatchObject({
    votes: [
      { username: 'Confirmed', attempt_count: 1 },
      { username: 'Alex', confirmed: true, attempt_count: 2 },
      { username: 'Steve', confirmed: true, attempt_count: 2 },
    ],
  });
  const mended = (await cli.run(`listener show ${slug}`)).stdout;
  expect(mended).not.toContain('Sent, not confirmed');
  expect(mended).toMatch(/^Last delivered: +\d.*\)$/m);
});

it('a v1 listener that answers has confirmed the test vote', async () => {
  const { slug } = await v1Server('Answering', await start(votifierPlus()));
  expect(await cli.run(`listener test ${slug} --json`)).toMatchObject({
    code: 0,
    json: { outcome: 'delivered', confirmed: true, step: 'acknowledgement' },
  });
});

it('for a v1 listener without an answer the first advice is to compare the key', async () => {
  const { slug } = await v1Server('Quiet', await start(votifier19()), keyLine(OTHER));
  const tested = await cli.run(`listener test ${slug}`);
  expect(tested.code).toBe(1);
  expect(tested.stdout).toMatch(/^Outcome: +ambiguous \(key-invalid\)$/m);
  expect(tested.stdout).toMatch(/^What to do: +Compare the public key/m);
});

it('unconfirmed votes are counted; one that may be sent once is not resent by a corrected token, only by hand', async () => {
  const { deps } = cli;
  const { slug, server_id } = await cli.addServer('Used up');
  const port = await start(votifierPlus());
  const set = (token: string, more = '') =>
    cli.run(
      `listener set ${slug} --protocol votifier-v2 --host 127.0.0.1 --port ${port} --token ${token}${more} --json`,
    );
  expect((await set('an0ther-t0ken-0123456789', ' --max-sendings 1')).json).toMatchObject({
    max_sendings: 1,
  });
  const voteId = await cli.cast(server_id, 'Steve');
  await drainHere(deps, server_id);

  const shown = await cli.run(`listener show ${slug}`);
  expect(shown.stdout).toMatch(/^State: +paused/m);
  expect(shown.stdout).toMatch(/^Waiting: +0 votes$/m);
  expect(shown.stdout).toMatch(
    /^Unconfirmed: +1 vote given up; they may have arrived. To send them again: .*vote resend used-up/m,
  );
  expect(shown.stdout).toMatch(/^Sent at most: +1 time /m);
  expect((await cli.run(`listener show ${slug} --json`)).json).toMatchObject({
    waiting: 0,
    unconfirmed: 1,
    reason: { code: 'never-acknowledged' },
  });
  const resent = await cli.run(`vote resend ${slug} --since 2026-01-01 --json`);
  expect(resent.json).toMatchObject({ resent: 0, unconfirmed: 1 });
  const text = await cli.run(`vote resend ${slug} --since 2026-01-01`);
  expect(text.stdout).toContain('1 vote of this time range is unconfirmed and may have arrived');
  const story = await cli.run(`vote show ${voteId}`);
  expect(story.stdout).toMatch(/^closed-without-answer: +Look for an error in the game server’s log first/m);

  const unchanged = (await set('y3t-an0ther-t0ken-01234567', ' --no-resend')).json;
  expect(unchanged).toMatchObject({ unconfirmed: 1 });
  expect(unchanged).not.toHaveProperty('resent');
  expect((await set(TOKEN)).json).toMatchObject({ unconfirmed: 1, waiting: 0, max_sendings: 1 });
  const byHand = await cli.run(`vote resend ${slug} --since 2026-01-01 --state unconfirmed --json`);
  expect(byHand.json).toMatchObject({ resent: 1, may_arrive_twice: 1 });
  await drainHere(deps, server_id);
  expect((await cli.run(`vote show ${voteId} --json`)).json).toMatchObject({
    state: 'delivered',
    confirmed: true,
  });
});
