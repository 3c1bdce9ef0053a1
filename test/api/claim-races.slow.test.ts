import { describe, expect, it } from 'vitest';
import { A_CHECK, A_CLAIM, A_REWARD, claimsOfFile, type Listed, native, said, vote } from './claiming.ts';

const listed = claimsOfFile();

/** The body of an answer. */
type Ask = (all: Listed) => Promise<string>;

const vrc =
  (query = ''): Ask =>
  async ({ app, key }) =>
    (await app.inject({ url: `/api/vrc?key=${key}&username=Steve${query}` })).body;

/** On a machine with other work, 1,000 claims may take longer than the database may take for one. */
const UNHEARD = 'The database does not answer';

/** Asks again until the database answers. */
async function heard(all: Listed, ask: Ask): Promise<string> {
  for (;;) {
    const body = await ask(all);
    if (!body.includes(UNHEARD)) return body;
  }
}

describe('1,000 claims of one vote at once', () => {
  it.each<[string, { claim: Ask; won: RegExp; check: Ask; after: RegExp }]>([
    [
      'ListForge',
      {
        claim: (all) => said(all, `${A_CLAIM}&username=Steve`),
        won: /^1$/,
        check: (all) => said(all, `${A_CHECK}&username=Steve`),
        after: /^2$/,
      },
    ],
    [
      'ListForge reward',
      {
        claim: (all) => said(all, `${A_REWARD}&username=Steve`),
        won: /^1$/,
        check: (all) => said(all, `${A_REWARD}&username=Steve`),
        after: /^2$/,
      },
    ],
    [
      'status/claim',
      {
        claim: (all) => said(all, 'action=claim&username=Steve'),
        won: /^1$/,
        check: (all) => said(all, 'action=claim&username=Steve'),
        after: /^2$/,
      },
    ],
    [
      'VoteReward',
      {
        claim: vrc('&action=claim'),
        won: /"claimed":true/,
        check: vrc(),
        after: /^{"voted":true,"claimed":true}$/,
      },
    ],
    [
      'the native API',
      {
        claim: async (all) => (await native(all, all.key, 'Steve')).body,
        won: /"claimed":true/,
        check: async (all) => (await native(all, all.key, 'Steve')).body,
        after: /"claimed":false/,
      },
    ],
  ])('have exactly one success: %s', async (_name, { claim, won, check, after }) => {
    const all = await listed();
    await vote(all.deps, all.serverId, 'Steve');
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => claim(all)));
    const successes = answers.filter((body) => won.test(body)).length;
    // The answer of the claim that succeeded may be one that was not heard.
    if (answers.some((body) => body.includes(UNHEARD))) expect(successes).toBeLessThanOrEqual(1);
    else expect(successes).toBe(1);
    expect(await heard(all, check)).toMatch(after);
    expect(await heard(all, check)).toMatch(after);
  });
});
