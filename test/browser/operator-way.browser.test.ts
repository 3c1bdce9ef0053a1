import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { makePasswordLink } from '../../src/accounts/make-link.ts';
import { createOperator } from '../../src/accounts/users.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { requestRanks } from '../../src/servers/request-ranks.ts';
import { utcFieldValue } from '../../src/site/admin/admin-fields.ts';
import { PASSWORD } from '../support/sign-in.ts';
import { ageVotes } from '../support/votes.ts';
import { startSite } from './running-site.ts';
import { call } from './steps.ts';
import { chromium, launchBrowser, openTab, type Tab } from './tab.ts';

/** A listed server with its token. */
async function listed(deps: AppDeps, name: string) {
  const address = { address: `${name.toLowerCase()}.example.org`, port: 25_565 };
  const { serverId } = await addServer(deps, { name, ...address }, 'test');
  const { token } = await issueToken(deps, { serverId: new ObjectId(serverId), name: 'website' });
  return { serverId, token };
}

/** Signs in with the link that a new operator receives. */
async function signInByLink({ page }: Tab, deps: AppDeps, email: string) {
  await createOperator(deps, { email }, { userId: null, by: 'test' });
  await page.goto(await makePasswordLink(deps, { email }));
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Admin area' }).click();
}

describe.skipIf(!chromium)('the way of an operator, in a browser', () => {
  test('a review is public after approval; excluded votes do not count for totals and rank', async () => {
    const { deps, url } = await startSite({ OPERATOR_TWO_FACTOR: 'optional' });
    const alpha = await listed(deps, 'Alpha');
    const beta = await listed(deps, 'Beta');
    const voted = [
      [alpha, ['Steve', 'Alex', 'Efe']],
      [beta, ['Steve', 'Alex']],
    ] as const;
    for (const [server, players] of voted)
      for (const username of players)
        expect((await call(url, server, 'vote', { username })).status).toBe(200);
    // Move the votes five minutes into the past: an exclusion waits for votes of the last seconds.
    for (const { serverId } of [alpha, beta]) await ageVotes(deps, new ObjectId(serverId), 5 * MINUTE);
    const content = 'Kind people, and never away.';
    await writeReview(deps, {
      serverId: new ObjectId(alpha.serverId),
      username: 'Steve',
      rating: 5,
      content,
    });
    const ranks = async () => {
      await requestRanks(deps.producer);
      const [a, b] = [await call(url, alpha, 'info'), await call(url, beta, 'info')];
      return [a.answer.rank_position, b.answer.rank_position];
    };
    await expect.poll(ranks).toEqual([1, 2]);

    const tab = await openTab(await launchBrowser(), url);
    const { page, open, check } = tab;
    await signInByLink(tab, deps, 'admin@example.org');
    expect((await call(url, alpha, 'reviews')).answer).toMatchObject({ review_count: 0, reviews: [] });
    await open('/operator/reviews');
    await page.getByText(content).waitFor();
    await page.getByRole('button', { name: 'Approve the review of Steve' }).click();
    await page.getByText('The review of Steve is').waitFor();
    expect((await call(url, alpha, 'reviews')).answer).toMatchObject({
      review_count: 1,
      average_rating: 5,
      reviews: [{ username: 'Steve', content }],
    });

    await open(`/operator/votes?server=${alpha.serverId}`);
    await page.getByLabel('From').fill(utcFieldValue(after(deps.clock.now(), -HOUR)));
    await page.getByLabel('To', { exact: true }).fill(utcFieldValue(after(deps.clock.now(), -MINUTE)));
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'Exclude these votes…' }).click();
    await page.getByLabel('Internal reason').fill('One address cast them all.');
    await page.getByRole('button', { name: 'Exclude 3 votes' }).click();
    await page.locator('#exclusion-list').getByText('excluded', { exact: true }).waitFor();
    await check();
    expect((await call(url, alpha, 'info')).answer).toMatchObject({
      votes_count: 0,
      monthly_votes: 0,
      all_time_votes: 0,
    });
    await expect.poll(ranks).toEqual([2, 1]);

    await open('/operator/audit');
    await page.getByText('One address cast them all.').first().waitFor();
  });
});
