import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeReview } from '../../src/reviews/write-review.ts';
import { ADMIN_AREA } from '../../src/site/admin/admin-pages.ts';
import { tabsOf } from '../../src/site/shared/area.ts';
import { addBlock } from '../../src/votes/blocks/change-blocks.ts';
import { requestPlayerExclusion } from '../../src/votes/exclusions/player-exclusion.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, textOf, type WebApp } from '../support/web-app.ts';

/** The paths of all tabs; the pages of all tabs, except Bull Board, which has pages of its own. */
const PARTS = tabsOf(ADMIN_AREA).map(({ path }) => path);
const TABS = PARTS.filter((path) => path !== '/queues');

let web: WebApp;
let operator: SignedInUser;

beforeAll(async () => {
  web = await openWebApp();
  operator = await signIn(web, { role: 'operator' });
});

describe('the admin area', () => {
  test('says that nothing needs attention, and shows the queues', async () => {
    const { statusCode, body } = await getPage(web, '/operator', operator.headers);
    expect(statusCode).toBe(200);
    expect(textOf(body)).toContain('Nothing needs you.');
    expect(body).toContain('href="/operator/queues"');
    const jobs = (await getPage(web, '/operator?tab=jobs', operator.headers)).body;
    expect(jobs).toContain('Forward votes');
  });

  test('has a tab for each part and marks the current one', async () => {
    for (const path of TABS) {
      const { body } = await getPage(web, `/operator${path}`, operator.headers);
      const current = [...body.matchAll(/<a href="(\/operator[^"]*)" aria-current="page">/g)];
      expect(current[0]?.[1], path).toBe(`/operator${path}`);
      for (const other of PARTS) expect(body, path).toContain(`href="/operator${other}"`);
    }
  });

  test('all links begin with the base path', async () => {
    const underPath = await openWebApp({ PUBLIC_URL: 'http://localhost:3000/listing' });
    const { headers, userId } = await signIn(underPath, { role: 'operator' });
    const serverId = await addOwnedServer(underPath.deps, userId);
    const ballot = { serverId, username: 'Steve', tokenId: null };
    const { vote } = await castVote(underPath.deps, ballot);
    await addBlock(underPath.deps, { kind: 'name', value: 'Alex', reason: 'x' }, 'cli');
    for (const path of [
      ...TABS,
      `/servers/${serverId}`,
      `/votes?server=${serverId}`,
      `/votes/${vote._id}`,
      '/votes?player=Steve',
      '/votes/exclude-player?player=Steve',
    ]) {
      const { statusCode, body } = await getPage(underPath, `/operator${path}`, headers);
      expect(statusCode, path).toBe(200);
      const addresses = [...body.matchAll(/\b(?:href|src|action|data-hx-get)="([^"#][^"]*)"/g)].map(
        ([, to]) => to,
      );
      expect(addresses.filter((to) => !to?.startsWith('/listing/'))).toEqual([]);
    }
  });

  test('user input is escaped on every page', async () => {
    const name = '"><script>alert(1)</script>';
    const serverId = await addOwnedServer(web.deps, operator.userId, { name });
    const q = encodeURIComponent(name);
    const { deps } = web;
    await addOwnedServer(deps, operator.userId, { name, address: 'twin.example.org' });
    const { vote } = await castVote(deps, { serverId, username: name, tokenId: null });
    const review = { serverId, username: name, rating: 1, content: name };
    await writeReview(deps, review);
    await addBlock(deps, { kind: 'name', value: name, reason: name }, name);
    const player = { username: name, serverId: null, since: null, until: deps.clock.now() };
    await requestPlayerExclusion(
      deps,
      new ObjectId(),
      { ...player, reason: name, reasonForOwner: name },
      name,
    );
    for (const path of [
      ...TABS,
      `/servers?q=${q}`,
      `/servers/${serverId}`,
      `/votes?server=${serverId}&player=${q}`,
      `/votes?server=${q}&since=${q}`,
      `/votes?server=${q}`,
      `/votes?player=${q}`,
      `/votes/exclude-player?player=${q}`,
      `/votes/${vote._id}`,
      '/votes/exclusions',
      `/blocks?kind=${q}&value=${q}&from=${q}`,
      `/reviews?done=many&approved=${q}&of=${q}`,
      `/votes/exclude?server=${serverId}&since=2026-01-01T00:00`,
      `/audit?by=${q}&action=${q}`,
      `/reviews?state=${q}&from=${q}`,
    ]) {
      const { body } = await getPage(web, `/operator${path}`, operator.headers);
      expect(body, path).not.toContain('<script>alert');
    }
  });
});
