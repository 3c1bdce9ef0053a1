import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { auditSentence } from '../../src/platform/audit/audit-actions.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let operator: SignedInUser;
let serverId: ObjectId;

beforeAll(async () => {
  web = await openWebApp();
  operator = await signIn(web, { role: 'operator' });
  serverId = await addOwnedServer(web.deps, operator.userId);
  for (let i = 0; i < 120; i++) {
    await web.deps.auditLog.insertOne({
      _id: new ObjectId(),
      at: web.deps.clock.now(),
      by: i % 2 ? 'one@example.org' : 'other@example.org',
      action: i % 3 ? 'server.hide' : 'made.up',
      serverId: i % 4 ? serverId : new ObjectId(),
      details: { reason: `No ${i}.` },
    });
  }
});

const page = async (query: Record<string, string>) =>
  (await getPage(web, `/operator/audit?${new URLSearchParams(query)}`, operator.headers)).body;

/** The numbers in all entries, collected over all pages. */
async function numbers(query: Record<string, string>): Promise<number[]> {
  const seen: number[] = [];
  let nextQuery: Record<string, string> | undefined = query;
  while (nextQuery) {
    const body = await page(nextQuery);
    seen.push(...[...body.matchAll(/No (\d+)\.&quot;/g)].map(([, number]) => Number(number)));
    const next: string | undefined = /href="\/operator\/audit\?([^"]*)" rel="next"/.exec(body)?.[1];
    nextQuery = next ? Object.fromEntries(new URLSearchParams(next.replaceAll('&amp;', '&'))) : undefined;
  }
  return seen;
}

const all = Array.from({ length: 120 }, (_, i) => 119 - i);

test.each([
  ['everything', {}, all],
  ['one user', { by: 'One@example.org' }, all.filter((i) => i % 2)],
  ['one action', { action: 'server.hide' }, all.filter((i) => i % 3)],
  [
    'a user and an action',
    { by: 'one@example.org', action: 'made.up' },
    all.filter((i) => i % 2 && i % 3 === 0),
  ],
])('%s, newest first, over all pages', async (_, query, expected) => {
  expect(await numbers(query)).toEqual(expected);
});

test('filters by server together with other filters', async () => {
  const server = serverId.toHexString();
  expect(await numbers({ server })).toEqual(all.filter((i) => i % 4));
  expect(await numbers({ server, by: 'one@example.org', action: 'server.hide' })).toEqual(
    all.filter((i) => i % 4 && i % 2 && i % 3),
  );
  expect(await page({ server: 'nothing-here' })).toContain('No server has this id or slug.');
});

test('entries are sentences; an unknown action is shown as its code', async () => {
  const body = await page({});
  expect(body).toContain('Hid a server: No 119.');
  expect(body).toContain('<bdi>made.up</bdi>');
  const sentence = (action: string, details: Record<string, unknown> = {}) =>
    auditSentence({ action, details });
  expect(sentence('server.edit', { address: 'x', queryPort: 1 })).toBe(
    'Changed a server: address, query port',
  );
  expect(sentence('server.transfer', { from: null, to: 'a@b.org' })).toBe('Transferred a server: to a@b.org');
  expect(sentence('review.rejected')).toBe('Rejected a review');
  expect(sentence('review.answer-removed')).toBe('Removed the answer to a review');
  expect(body).toContain('<option value="review.answer-removed" >');
  const email = 'a@b.org';
  expect(sentence('person.make-operator', { email })).toBe('Made a user an operator: a@b.org');
  expect(sentence('person.unmake-operator', { email })).toBe('Removed the operator role: a@b.org');
  expect(sentence('constructor')).toBe('constructor');
});
