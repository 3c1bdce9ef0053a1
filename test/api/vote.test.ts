import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp();
});
afterAll(() => tallyport.close());

test('a vote is accepted, stored as typed under the id of Vote-Id, and counted', async () => {
  const server = await tallyport.addServer();
  const now = new Date('2026-11-20T08:00:00.123Z');
  tallyport.clock.stop(now);
  const answer = await tallyport.vote(server, '  .Steve der  Große ');

  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.text).toBe('{"success":true,"monthly_votes":1,"next_vote_at":"2026-11-21T08:00:00.123Z"}');
  expect(answer.headers.get('ratelimit-policy')).toBe('"vote";q=1;w=86400');
  expect(answer.headers.get('ratelimit')).toBe('"vote";r=0;t=86400');
  const [vote] = await tallyport.deps.votes.find({ serverId: server.serverId }).toArray();
  expect(vote?._id.toString()).toBe(answer.headers.get('vote-id'));
  expect(answer.headers.get('vote-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  expect(vote).toMatchObject({ username: '.Steve der  Große', votedAt: now, tokenId: server.tokenId });

  expect((await tallyport.vote(server, 'Alex')).body.monthly_votes).toBe(2);
  expect((await tallyport.vote(await tallyport.addServer(), 'Alex')).body.monthly_votes).toBe(1);
});

test('monthly_votes begins anew with the UTC month', async () => {
  const server = await tallyport.addServer();
  tallyport.clock.stop(new Date('2026-11-30T23:59:59.999Z'));
  expect((await tallyport.vote(server, 'Steve')).body.monthly_votes).toBe(1);
  tallyport.clock.stop(new Date('2026-12-01T00:00:00.000Z'));
  expect((await tallyport.vote(server, 'Alex')).body.monthly_votes).toBe(1);
});

test('a second vote within 24 hours is refused with the spelling that voted, and the moment of the next', async () => {
  const server = await tallyport.addServer();
  const votedAt = new Date('2026-11-20T08:00:00.500Z');
  tallyport.clock.stop(votedAt);
  await tallyport.vote(server, 'Steve');

  tallyport.clock.move(1);
  const refused = await tallyport.vote(server, 'STEVE');
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({
    code: 'cooldown',
    error:
      '"Steve" voted for this server at 2026-11-20T08:00:00.500Z: the next vote is allowed at 2026-11-21T08:00:00.500Z.',
    next_vote_at: '2026-11-21T08:00:00.500Z',
  });
  // 86,399.999 s, rounded up.
  expect(refused.headers.get('retry-after')).toBe('86400');
  expect(refused.headers.get('ratelimit')).toBe('"vote";r=0;t=86400');

  tallyport.clock.stop(after(votedAt, DAY - 1));
  const stillRefused = await tallyport.vote(server, 'Steve');
  expect([stillRefused.status, stillRefused.headers.get('retry-after')]).toEqual([429, '1']);

  tallyport.clock.stop(after(votedAt, DAY));
  expect((await tallyport.vote(server, 'Steve')).status).toBe(200);
});

describe('two spellings are the same player', () => {
  test.each([
    ['upper and lower case', 'Steve', 'sTEVE'],
    ['full case folding', 'Straße', 'STRASSE'],
    ['the final sigma', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['composed and decomposed', 'Jos\u00e9', 'Jose\u0301'],
    ['full width', '\uff33teve', 'Steve'],
    ['a ligature', '\ufb01sh', 'FISH'],
    ['a zero-width space', 'Ste\u200bve', 'Steve'],
    ['a soft hyphen and a variation selector', 'St\u00adeve\ufe0f', 'Steve'],
    ['runs of white space', 'Big  \u2003 Steve', 'big Steve'],
    ['a no-break space', 'Big\u00a0Steve', 'Big Steve'],
    ['surrounding white space', '\u3000\tSteve \n', 'Steve'],
  ])('%s', async (_, first, second) => {
    const server = await tallyport.addServer();
    expect((await tallyport.vote(server, first)).status).toBe(200);
    const refused = await tallyport.vote(server, second);
    expect(refused.status).toBe(429);
    expect(refused.body.error).toContain(`"${first.trim()}"`);
    const check = await tallyport.call(server, `check-vote?username=${encodeURIComponent(second)}`);
    expect(check.body.has_voted).toBe(true);
  });

  test('and others are not', async () => {
    const server = await tallyport.addServer();
    for (const name of ['Steve', '.Steve', 'Steve_', 'Ste ve', 'Stеve', '5teve', '👩‍🚀', '👨‍🚀']) {
      expect((await tallyport.vote(server, name)).status, name).toBe(200);
    }
  });
});

describe('a username is refused', () => {
  test.each([
    ['missing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', ['Steve']],
    ['an object', { $ne: null }],
    ['empty', ''],
    ['white space', ' \u3000\t'],
    ['with a line feed', 'Steve\n127.0.0.1'],
    ['with a NUL', 'Ste\u0000ve'],
    ['with DEL', 'Steve\u007fx'],
    ['with a C1 control character', 'Ste\u0085ve'],
    ['only zero-width characters', '\u200b\u2060\ufe0f'],
    ['51 code points', 'x'.repeat(51)],
    ['51 emoji', '🦑'.repeat(51)],
    ['an unpaired surrogate', 'Ste\ud800ve'],
  ])('%s', async (_, username) => {
    const answer = await tallyport.vote(await tallyport.addServer(), username);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(/^username .+\.$/);
  });
});

test.each([
  ['50 code points', 'x'.repeat(50)],
  ['50 emoji of two UTF-16 units', '🦑'.repeat(50)],
  ['50 code points in white space', `  ${'x'.repeat(50)}\n`],
  ['one character', 'x'],
  ['quotation marks and a backslash', '"\\"'],
  ['a name that JavaScript knows', '__proto__'],
  ['right-to-left', 'שלום'],
])('a username is accepted: %s', async (_, username) => {
  const server = await tallyport.addServer();
  expect((await tallyport.vote(server, username)).status).toBe(200);
  expect((await tallyport.vote(server, username)).body.error).toContain(username.trim());
});

describe('check-vote', () => {
  const get = async (query: string, server = tallyport.addServer()) =>
    tallyport.call(await server, `check-vote${query}`);

  test('says who voted in the last 24 hours, and when the next vote is allowed', async () => {
    const server = await tallyport.addServer();
    tallyport.clock.stop(new Date('2026-11-20T08:00:00.500Z'));
    await tallyport.vote(server, 'Big Steve');
    tallyport.clock.move(DAY - 1);
    for (const query of ['?username=big+steve', '?username=BIG%20STEVE', '?x=1&username=Big%20%20Steve&y']) {
      expect((await tallyport.call(server, `check-vote${query}`)).body).toEqual({
        has_voted: true,
        voted_at: '2026-11-20T08:00:00.500Z',
        next_vote_at: '2026-11-21T08:00:00.500Z',
      });
    }
    tallyport.clock.move(1);
    const later = await tallyport.call(server, 'check-vote?username=Big+Steve');
    expect(later.text).toBe('{"has_voted":false,"voted_at":null,"next_vote_at":null}');
  });

  test('knows a plus sign and white space by their encodings', async () => {
    const server = await tallyport.addServer();
    await tallyport.vote(server, 'a+b');
    expect((await tallyport.call(server, 'check-vote?username=a%2Bb')).body.has_voted).toBe(true);
    expect((await tallyport.call(server, 'check-vote?username=a+b')).body.has_voted).toBe(false);
  });

  test.each([
    ['', 'username is required and must be a string.'],
    ['?username', 'username must not be empty.'],
    ['?username=', 'username must not be empty.'],
    ['?Username=Steve', 'username is required and must be a string.'],
    ['?username=Steve&username=Steve', 'username must be given only once.'],
    ['?username=%0a%00x', 'username must not contain control characters.'],
    [`?username=${'x'.repeat(51)}`, 'username must have at most 50 characters.'],
  ])('refuses %j', async (query, error) => {
    const answer = await get(query);
    expect([answer.status, answer.body]).toMatchObject([400, { error, code: 'malformed' }]);
  });

  test.each([
    '%',
    '%zz',
    '%e',
    'Steve%ff',
    '%c0%af',
    '%ed%a0%80',
  ])('refuses malformed percent-encoding: %s', async (name) => {
    expect((await get(`?username=${name}`)).status).toBe(400);
  });

  test('ignores other parameters, malformed and repeated ones too', async () => {
    expect((await get('?a=%zz&a=1&a=2&%zz&__proto__=x&&=&username=Steve')).status).toBe(200);
  });
});

test('the vote of another player, of another server and of a day before stand in nobody’s way', async () => {
  const server = await tallyport.addServer();
  const other = await tallyport.addServer();
  tallyport.clock.stop(new Date('2026-11-20T08:00:00.000Z'));
  expect((await tallyport.vote(server, 'Steve')).status).toBe(200);
  expect((await tallyport.vote(server, 'Alex')).status).toBe(200);
  expect((await tallyport.vote(other, 'Steve')).status).toBe(200);
  tallyport.clock.move(25 * HOUR);
  expect((await tallyport.vote(server, 'Steve')).status).toBe(200);
  expect((await tallyport.call(other, 'check-vote?username=Steve')).body.has_voted).toBe(false);
});
