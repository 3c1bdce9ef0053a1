import { ObjectId, UUID } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { usernameKey } from '../../src/votes/username.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { deliveryIn, storedVote } from '../support/votes.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

const attempt = (words: string) => ({
  id: new UUID(),
  at: new Date(),
  worker: 'w',
  protocol: 'votifier-v2' as const,
  revision: 1,
  test: false,
  words,
});

/** Stores a vote by `name`, cast `hours` hours ago, with the sequence number `seq`. */
async function vote(serverId: ObjectId, name: string, seq: number, hours: number, more: Partial<Vote> = {}) {
  const { deps } = cli;
  const at = after(deps.clock.now(), -hours * HOUR);
  const stored = { ...storedVote(serverId, name, at, { seq, ...more }), usernameKey: usernameKey(name) };
  await deps.votes.insertOne(stored);
  return stored._id;
}

it('erases a player’s name in every spelling, keeps what is still needed, and completes that later', async () => {
  const { deps, run } = cli;
  const one = new ObjectId((await cli.addServer('One')).server_id);
  const two = new ObjectId((await cli.addServer('Two')).server_id);
  await run('server remove --yes', two.toHexString());
  const old = await vote(one, 'StEve', 1, 72, {
    delivery: deliveryIn('delivered', { attempts: [attempt('ok, Steve')] }),
  });
  const older = await vote(one, 'steve', -1, 24 * 400);
  const elsewhere = await vote(two, 'Steve', 1, 48);
  const recent = await vote(one, 'Steve', 2, 2);
  const open = await vote(two, 'Steve', 2, 30, { delivery: deliveryIn('waiting') });
  const excludedBy = [await openQuarantine(deps, two, 'Too many at once.')];
  const held = { quarantinedAt: new Date(), excludedAt: new Date(), excludedBy };
  const quarantined = await vote(two, 'Steve', 3, 29, held);
  const released = await vote(two, 'Steve', 4, 28, {
    delivery: deliveryIn('none', { events: [{ at: new Date(), kind: 'released' }] }),
  });
  const other = await vote(one, 'Steven', 1, 72);
  await run(`review add one --rating 5 --content Good --username`, 'STEVE');
  await run(`review add one --rating 4 --username`, 'Steven');
  const userId = new ObjectId();
  await deps.favourites.insertOne({ _id: userId, username: 'steve' });
  await run('vote forget one Steve');

  const kept = { remaining_open_votes: 2, remaining_recent_votes: 2, complete: false };
  const counts = { votes: 3, reviews: 1, favourites: 1, audit_entries: 1, ...kept };
  expect((await run('player erase sTEVE --json')).code).toBe(2);
  const dry = await run('player erase sTEVE --dry-run --json');
  expect(dry).toMatchObject({ code: 0, json: { dry_run: true, ...counts } });
  expect(await deps.votes.countDocuments({ usernameKey: 'steve' })).toBe(7);

  const erased = await run('player erase sTEVE --yes --json');
  expect(erased).toMatchObject({ code: 1, json: { dry_run: false, ...counts } });
  const votes = await deps.votes.find().toArray();
  const nameOf = (id: UUID) => votes.find(({ _id }) => _id.equals(id))?.username;
  for (const id of [old, older, elsewhere]) expect(nameOf(id)).toBe('(erased)');
  for (const id of [recent, open, quarantined, released]) expect(nameOf(id)).toBe('Steve');
  expect(nameOf(other)).toBe('Steven');
  expect(await deps.reviews.distinct('username')).toEqual(['(erased)', 'Steven']);
  expect(await deps.favourites.findOne({ _id: userId })).toEqual({ _id: userId });
  const audit = await deps.auditLog.find().toArray();
  expect(JSON.stringify(audit)).not.toMatch(/steve/i);
  expect(audit.find(({ action }) => action === 'player.erase')).toMatchObject({
    by: 'cli',
    details: { votes: 3, reviews: 1 },
  });
  expect(JSON.stringify(votes.find(({ _id }) => _id.equals(old)))).not.toMatch(/steve/i);

  const aged = after(deps.clock.now(), -2 * DAY);
  await deps.votes.updateMany(
    { usernameKey: 'steve' },
    {
      $set: { votedAt: aged, 'delivery.state': 'delivered', 'delivery.events': [] },
      $unset: { quarantinedAt: 1 },
    },
  );
  const text = await run('player erase Steve --yes');
  expect(text).toMatchObject({ code: 0, stdout: expect.stringContaining('Erased “Steve” in: 4 votes') });
  expect(await deps.votes.countDocuments({ usernameKey: 'steve' })).toBe(0);
  expect(await deps.votes.countDocuments()).toBe(8);
});
