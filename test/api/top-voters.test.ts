import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECOND } from '../../src/platform/clock.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp();
});
afterAll(() => tallyport.close());

/** A server with two votes of Steve and one of Alex in the current month, and one of Kai in the month before. */
async function serverWithVotes() {
  const server = await tallyport.addServer();
  const { votes, clock } = tallyport.deps;
  for (const name of ['Steve', 'Alex', 'Steve again', 'Kai']) {
    tallyport.clock.move(SECOND);
    await tallyport.vote(server, name);
  }
  const { serverId } = server;
  const now = clock.now();
  const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0, 23, 59, 59, 999));
  await votes.updateOne({ serverId, username: 'Kai' }, { $set: { votedAt: before } });
  await votes.updateOne(
    { serverId, username: 'Steve again' },
    { $set: { username: 'STEVE', usernameKey: 'steve', seq: 2 } },
  );
  return { server, month: now.toISOString().slice(0, 7), before };
}

test('the current month is the default; a tie goes to the earlier vote', async () => {
  const { server, month } = await serverWithVotes();
  const { body } = await tallyport.call(server, 'top-voters');
  const last_voted_at = expect.stringMatching(/\.\d{3}Z$/);
  expect(body).toEqual({
    month,
    voters: [
      { username: 'STEVE', votes: 2, last_voted_at },
      { username: 'Alex', votes: 1, last_voted_at },
    ],
  });
  expect((await tallyport.call(server, `top-voters?month=${month}&limit=1`)).body.voters).toHaveLength(1);
});

test('the previous month, by name and by number', async () => {
  const { server, before } = await serverWithVotes();
  const month = before.toISOString().slice(0, 7);
  const voters = [{ username: 'Kai', votes: 1, last_voted_at: before.toISOString() }];
  for (const query of ['previous', month]) {
    expect((await tallyport.call(server, `top-voters?month=${query}`)).body).toEqual({ month, voters });
  }
});

test('months without votes, long ago and to come, are empty', async () => {
  const { server } = await serverWithVotes();
  for (const month of ['2000-01', '2099-12']) {
    expect((await tallyport.call(server, `top-voters?month=${month}`)).body).toEqual({ month, voters: [] });
  }
});

test('an unchanged list is 304', async () => {
  const { server } = await serverWithVotes();
  const { headers } = await tallyport.call(server, 'top-voters');
  const again = await tallyport.call(server, 'top-voters', {
    headers: { 'if-none-match': headers.get('etag') ?? '' },
  });
  expect([again.status, again.text]).toEqual([304, '']);
});

test.each(['2026-13', '2026-00', '1999-12', '2026-1', 'last', ''])('400: month %j', async (month) => {
  const server = await tallyport.addServer();
  const answer = await tallyport.call(server, `top-voters?month=${month}`);
  expect([answer.status, answer.body]).toMatchObject([
    400,
    { error: 'month must be "current", "previous" or a month such as 2026-11.', code: 'malformed' },
  ]);
});
