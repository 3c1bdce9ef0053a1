import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, textOf, webAppOfFile } from '../support/web-app.ts';

const web = webAppOfFile({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
let port = 25_600;

async function ownedServer(owner: ObjectId, name: string, listedAt?: Date): Promise<ObjectId> {
  const id = await addOwnedServer(web().deps, owner, { name, port: port++ });
  if (listedAt) await web().deps.servers.updateOne({ _id: id }, { $set: { listedAt } });
  return id;
}

async function cast(serverId: ObjectId, ...players: string[]): Promise<void> {
  for (const username of players) await castVote(web().deps, { serverId, username, tokenId: null });
  await web().deps.voteCounts.flush();
}

/** With a listener that refuses connections. */
async function breakListener(serverId: ObjectId): Promise<void> {
  const { deps } = web();
  const settings = { host: '127.0.0.1', port: 1, secret: 'a'.repeat(32), serviceName: 'Tallyport' };
  await setListener(deps, serverId, { protocol: 'votifier-v2', ...settings }, 'test');
  const breaker = { failures: 3, openSince: deps.clock.now(), tests: 1, code: 'connection-refused' as const };
  await deps.listeners.updateOne({ serverId }, { $set: { breaker } });
}

it('the list has sums, and the servers that need their owner come first', async () => {
  const { headers, userId } = await signIn(web());
  const long = new Date('2020-01-01');
  const calm = await ownedServer(userId, 'Calm', long);
  const stuck = await ownedServer(userId, 'Stuck', long);
  await ownedServer(userId, 'Young');
  await cast(calm, 'Ada', 'Bob', 'Cleo');
  await breakListener(stuck);
  await cast(stuck, 'Ada');

  const page = textOf((await getPage(web(), '/dashboard', headers)).body);
  expect(page).toMatch(/3 servers 4 votes in 30 days 0 playing now 2 need something from you/);
  expect(page).toMatch(/Stuck .*Votes waiting: 1\. The vote listener is unreachable\./);
  expect(page).toMatch(/1 of 5 steps done\. Next: Set up the vote listener/);
  expect(page).toMatch(/Calm .*No vote listener\. Votes are counted, and you can send them later\./);
  const names = ['Stuck', 'Young', 'Calm'].map((name) => page.indexOf(name));
  expect(names).toEqual(names.toSorted((a, b) => a - b));
  const members = await getPage(web(), `/dashboard/servers/${stuck}/members`, headers);
  expect(textOf(members.body)).toContain('Vote listener 1 problem');
});

it('the overview has the newest votes as strokes, and what waits for the owner', async () => {
  const { headers, userId } = await signIn(web());
  const id = await ownedServer(userId, 'Tally', new Date('2020-01-01'));
  await cast(id, 'Ada', 'Bob');
  const review = { serverId: id, username: 'Ada', rating: 4, content: 'Kind people.' };
  const { reviewId } = await writeReview(web().deps, review);
  await moderateReview(web().deps, new ObjectId(reviewId), 'approved', 'test');

  const { body } = await getPage(web(), `/dashboard/servers/${id}`, headers);
  expect(body).toContain('aria-label="The last 2 votes, oldest first: 2 not forwarded"');
  const page = textOf(body);
  expect(page).toMatch(/Votes today 2 0 yesterday .*1 review has no answer yet\./);
  expect(page).toMatch(/The last 20 votes .*Bob .*Ada .*Newest reviews .*Kind people\./);
  expect(page).toContain('Reviews 1 without an answer');
  expect(page).not.toContain('Ready for players');
});

it('a held vote is called so among the newest votes and in the list', async () => {
  const { headers, userId } = await signIn(web());
  const id = await ownedServer(userId, 'Held', new Date('2020-01-01'));
  await cast(id, 'Ada');
  const at = new Date();
  await web().deps.votes.updateOne({ serverId: id }, { $set: { excludedAt: at, quarantinedAt: at } });
  for (const part of ['', '/votes']) {
    const page = textOf((await getPage(web(), `/dashboard/servers/${id}${part}`, headers)).body);
    expect(page).toMatch(/Ada .{0,40}held, not counted/);
  }
});
