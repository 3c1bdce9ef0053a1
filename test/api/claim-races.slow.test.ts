import { describe, expect, it } from 'vitest';
import { A_CHECK, A_CLAIM, A_REWARD, type Listed, listed, native, said, vote, vrc } from './claiming.ts';

describe('1,000 claims of one vote at once', () => {
  it.each<[string, (all: Listed) => Promise<boolean>, (all: Listed) => Promise<unknown>, unknown]>([
    [
      'ListForge',
      async (all) => (await said(all, `${A_CLAIM}&username=Steve`)) === '1',
      (all) => said(all, `${A_CHECK}&username=Steve`),
      '2',
    ],
    [
      'ListForge reward',
      async (all) => (await said(all, `${A_REWARD}&username=Steve`)) === '1',
      (all) => said(all, `${A_REWARD}&username=Steve`),
      '2',
    ],
    [
      'status/claim',
      async (all) => (await said(all, 'action=claim&username=Steve')) === '1',
      (all) => said(all, 'action=claim&username=Steve'),
      '2',
    ],
    [
      'VoteReward',
      async (all) => ((await vrc(all, 'Steve', true)) as { claimed: boolean }).claimed,
      (all) => vrc(all, 'Steve'),
      { voted: true, claimed: true },
    ],
    [
      'the native API',
      async (all) => (await native(all, all.key, 'Steve')).json.claimed,
      async (all) => (await native(all, all.key, 'Steve')).json.claimed,
      false,
    ],
  ])('have exactly one success: %s', async (_name, claim, check, after) => {
    const all = await listed();
    await vote(all.platform, all.serverId, 'Steve');
    const claims = await Promise.all(Array.from({ length: 1_000 }, () => claim(all)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await check(all)).toEqual(after);
    expect(await check(all)).toEqual(after);
  });
});
