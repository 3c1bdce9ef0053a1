import type { ObjectId, UUID } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { mailContext } from '../../src/mail/outbox.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { saveOwnReview } from '../../src/reviews/own-review.ts';
import { addBlock } from '../../src/votes/blocks/change-blocks.ts';
import { CastDeadline } from '../../src/votes/cast/cast-deadline.ts';
import { castVoteFromApi } from '../../src/votes/cast/cast-from-api.ts';
import { openQuarantine, requestQuarantineExclusion } from '../../src/votes/exclusions/quarantine.ts';
import { castVote } from '../support/casting.ts';
import { excludeVotes } from '../support/exclusions.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { ageVotes } from '../support/votes.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';
import { sendSignIn } from './account-pages.ts';

/** A text that every internal reason of this file contains. */
const INTERNAL = 'informant-4711';
const FOR_OWNER = 'rule seven';

const CONTACT = 'ops@listing.example';

let web: WebApp;
let operator: SignedInUser;
let owner: SignedInUser;
let member: SignedInUser;
let serverId: ObjectId;
let reviewedId: ObjectId;
let voteIds: UUID[];

beforeAll(async () => {
  web = await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org', CONTACT });
  const { deps } = web;
  [operator, owner, member] = [
    await signIn(web, { role: 'operator' }),
    await signIn(web),
    await signIn(web, { email: 'invited@example.org' }),
  ];
  serverId = await addOwnedServer(deps, owner.userId);
  const stranger = await signIn(web);
  reviewedId = await addOwnedServer(deps, stranger.userId, {
    name: 'Other',
    address: 'other.example.org',
  });
  voteIds = await decided();
});

/** Lets an operator make decisions about everything that the owner has. Returns the ids of the votes. */
async function decided(): Promise<UUID[]> {
  const { deps } = web;
  const press = (path: string, fields: Record<string, string>) =>
    sendForm(web, `/operator/servers/${serverId}/${path}`, fields, operator.headers);
  const reasons = { reason: FOR_OWNER, internalReason: INTERNAL };
  expect((await press('hide', reasons)).statusCode).toBe(303);
  await deps.servers.updateOne({ _id: serverId }, { $set: { 'profile.shortText': 'Rude' } });
  const part = { part: 'shortText', profileReason: FOR_OWNER, profileInternalReason: INTERNAL };
  expect((await press('profile/remove', part)).statusCode).toBe(303);

  const votes = { excluded: 'One', quarantined: 'Two', blocked: 'Three' };
  await castVote(deps, { serverId, username: votes.excluded, tokenId: null });
  await ageVotes(deps, serverId, HOUR);
  const range = { serverId, since: new Date(0), until: new Date(Date.now() - HOUR / 2), tokenId: null };
  const exclusion = { ...range, reason: INTERNAL, reasonForOwner: FOR_OWNER };
  await excludeVotes(deps, exclusion, operator.email, { settledMs: 0 });
  const quarantineId = await openQuarantine(deps, serverId, `${INTERNAL} voted too often`);
  await castVote(deps, { serverId, username: votes.quarantined, tokenId: null, quarantineId });
  await requestQuarantineExclusion(deps, quarantineId, { reason: INTERNAL }, operator.email);
  await addBlock(deps, { kind: 'name', value: votes.blocked, reason: INTERNAL }, operator.email);
  const blocked = { serverId, username: votes.blocked, tokenId: null, key: undefined };
  await castVoteFromApi(deps, blocked, new CastDeadline(5_000));
  const resent = { at: new Date(), kind: 'resent' as const, by: operator.email, mayArriveTwice: false };
  await deps.votes.updateMany({ serverId }, { $push: { 'delivery.events': resent } });

  const review = { username: 'Author', rating: 1, content: 'Bad.' };
  await saveOwnReview(deps, { serverId: reviewedId, userId: owner.userId }, review);
  const written = await deps.reviews.findOne({ personId: owner.userId });
  if (!written) throw new Error('no review');
  const rejection = { reason: INTERNAL, reasonForOwner: FOR_OWNER };
  await moderateReview(deps, written._id, 'rejected', operator.email, rejection);
  // Members and owners must not see who invited, if an operator did.
  const invitation = { email: member.email, role: 'full' };
  const path = `/dashboard/servers/${serverId}/members`;
  expect((await sendForm(web, path, invitation, operator.headers)).statusCode).toBe(303);
  return (await deps.votes.find({ serverId }).toArray()).map(({ _id }) => _id);
}

/** Every page for owners whose path has no parameter except the server, and the pages of the votes. */
function ownersPages(): string[] {
  const parameters = /:(?!serverId)\w+/;
  const pages = web.app.site.routes
    .filter(({ method, access }) => method === 'GET' && access !== 'operator' && access !== 'anyone')
    .filter(({ url }) => !parameters.test(url))
    .map(({ url }) => url.replace(':serverId', serverId.toHexString()));
  const votes = voteIds.map((id) => `/dashboard/servers/${serverId}/votes/${id}`);
  return [...pages, ...votes];
}

test('no page of an owner shows an internal reason or the address of an operator', async () => {
  const pages = ownersPages();
  expect(pages.length).toBeGreaterThan(20);
  for (const user of [owner, member]) {
    for (const url of pages) {
      const { body, statusCode } = await getPage(web, url, user.headers);
      // The server is hidden, so it cannot become a favourite.
      if (user === owner && !url.startsWith('/favourites/')) expect(statusCode, url).toBeLessThan(400);
      expect(body, url).not.toContain(INTERNAL);
      expect(body, url).not.toContain(operator.email);
    }
  }
  const server = await web.deps.servers.findOne({ _id: serverId });
  const slugs = [server?.slug, (await web.deps.servers.findOne({ _id: reviewedId }))?.slug];
  for (const path of slugs.flatMap((slug) => [`/servers/${slug}`, `/servers/${slug}/vote`])) {
    const { body } = await getPage(web, path, owner.headers);
    expect(body, path).not.toContain(INTERNAL);
    expect(body, path).not.toContain(operator.email);
  }
  for (const id of voteIds) {
    const { body } = await getPage(web, `/servers/${server?.slug}/vote/${id}`, owner.headers);
    expect(body).not.toContain(INTERNAL);
  }
});

test('the owner sees the reason that is for them, and how to reach the operator', async () => {
  const body = async (path: string, user = owner) => (await getPage(web, path, user.headers)).body;
  const dashboard = await body(`/dashboard/servers/${serverId}`);
  expect(dashboard).toContain(FOR_OWNER);
  expect(dashboard).toContain(`href="mailto:${CONTACT}"`);
  expect(await body(`/dashboard/servers/${serverId}/profile`)).toContain(FOR_OWNER);
  expect(await body('/account/reviews')).toContain(FOR_OWNER);
  const votes = await Promise.all(voteIds.map((id) => body(`/dashboard/servers/${serverId}/votes/${id}`)));
  expect(votes.filter((one) => one.includes(`Excluded by an operator: “${FOR_OWNER}”`))).toHaveLength(1);
  expect(votes.filter((one) => one.includes('Excluded by an operator</b>'))).toHaveLength(2);
  expect(votes.every((one) => one.includes('Resent by an operator'))).toBe(true);
  const german = { ...owner.headers, 'accept-language': 'de' };
  for (const id of voteIds) {
    const page = await getPage(web, `/dashboard/servers/${serverId}/votes/${id}`, german);
    expect(page.body).toContain('Ausgeschlossen (ein Betreiber)');
    expect(page.body).not.toContain('an operator');
  }
  expect(await body('/dashboard', member)).toContain('an operator invites you');
});

test('the download of an account has no internal reason and no address of an operator', async () => {
  const answer = await sendForm(web, '/account/export', { password: PASSWORD }, owner.headers);
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toContain('"servers"');
  expect(answer.body).not.toContain(INTERNAL);
  expect(answer.body).not.toContain(operator.email);
});

test('operators see both reasons', async () => {
  const body = async (path: string) => (await getPage(web, `/operator${path}`, operator.headers)).body;
  for (const path of [
    `/servers/${serverId}`,
    `/votes?server=${serverId}`,
    '/reviews?state=rejected',
    '/audit',
    '/blocks',
  ]) {
    expect(await body(path), path).toContain(INTERNAL);
  }
  const details = await web.deps.auditLog.find({ action: 'server.profile-remove' }).toArray();
  expect(details[0]?.details).toMatchObject({ reason: FOR_OWNER, internalReason: INTERNAL });
});

test('no mail to an owner has an internal reason or the address of an operator; a suspended user sees theirs', async () => {
  const { deps } = web;
  const suspension = { reason: INTERNAL, reasonForOwner: FOR_OWNER };
  const press = (name: string, fields: Record<string, string>) =>
    sendForm(web, `/operator/users/${owner.userId}/${name}`, fields, operator.headers);
  await press('email', { email: 'new@example.org', emailReason: INTERNAL });
  await press('reset-two-factor', {});
  expect((await press('suspend', suspension)).statusCode).toBe(303);
  const refused = await sendSignIn(web, owner.email);
  expect(refused.statusCode).toBe(401);
  expect(refused.body).toContain(FOR_OWNER);
  expect(refused.body).toContain(CONTACT);
  expect(refused.body).not.toContain(INTERNAL);
  // After a wrong password, the reason of the suspension is not shown.
  expect((await sendSignIn(web, owner.email, 'a wrong password')).body).not.toContain(FOR_OWNER);

  const mails = await deps.mails.find().toArray();
  const texts = mails.map(({ _id, sealedText }) => deps.secrets.open(sealedText ?? '', mailContext(_id)));
  expect(texts.some((text) => text.startsWith('An operator invites you'))).toBe(true);
  expect(texts.length).toBeGreaterThanOrEqual(4);
  for (const text of texts) {
    expect(text).not.toContain(INTERNAL);
    expect(text).not.toContain(operator.email);
  }
});
