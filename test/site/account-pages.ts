import type { FastifyInstance } from 'fastify';
import { ObjectId } from 'mongodb';
import { expect } from 'vitest';
import type { SecondFactor } from '../../src/accounts/user.ts';
import { mailContext } from '../../src/mail/outbox.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { sendForm, type WebApp } from '../support/web-app.ts';

type Answer = Awaited<ReturnType<FastifyInstance['inject']>>;

/** The cookies of an answer, as a browser sends them back. */
export function cookiesOf(answer: Answer): { cookie: string } {
  const cookies = answer.cookies.filter(({ value, maxAge }) => value !== '' && maxAge !== 0);
  return { cookie: cookies.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ') };
}

/** Whether `headers` belong to a signed-in user. */
export async function isSignedIn(web: WebApp, headers: { cookie: string }): Promise<boolean> {
  const url = `${web.deps.config.basePath}/account`;
  const answer = await web.app.inject({ url, headers: { accept: 'text/html', ...headers } });
  return answer.statusCode === 200;
}

/** The address on another site to which an answer sends the browser. */
export function leavesFor(answer: Answer): string {
  return String(answer.headers.refresh).replace(/^0; url=/, '');
}

/** Sends the sign-in form. */
export function sendSignIn(
  web: WebApp,
  email: string,
  password = PASSWORD,
  headers: Record<string, string> = {},
) {
  return sendForm(web, '/sign-in', { email, password }, headers);
}

/** For tests of lists of all users: removes all users with their credentials and audit log entries. */
export async function removeUsers(deps: AppDeps): Promise<void> {
  const { users, credentials, sessions, verifications, twoFactors, rateLimits, mails, auditLog } = deps;
  const all = [users, credentials, sessions, verifications, twoFactors, rateLimits, mails, auditLog];
  await Promise.all(all.map((collection) => collection.deleteMany({})));
}

/** The texts of all mails to an address, oldest first. */
export async function mailsTo({ mails, secrets }: AppDeps, to: string): Promise<string[]> {
  const found = await mails.find({ to }).sort({ createdAt: 1, _id: 1 }).toArray();
  return found.map(({ _id, sealedText }) => secrets.open(sealedText ?? '', mailContext(_id)));
}

/** The path and query of the link in the newest mail to an address. */
export async function linkTo(deps: AppDeps, to: string): Promise<string> {
  const text = (await mailsTo(deps, to)).at(-1) ?? '';
  const [link = ''] = /https?:\/\/\S+\?token=\S+/.exec(text) ?? [];
  const url = new URL(link);
  return `${url.pathname.slice(deps.config.basePath.length)}${url.search}`;
}

/** The token of a link. */
export function tokenOf(link: string): string {
  return new URL(link, 'http://localhost').searchParams.get('token') ?? '';
}

/** The text to copy on a page. */
export function copied(body: string): string {
  return /<code>([^<]*)<\/code>/.exec(body)?.[1] ?? '';
}

async function removeUser(deps: AppDeps, { userId, email }: SignedInUser): Promise<void> {
  const { users, credentials, sessions, twoFactors, mails, auditLog } = deps;
  await Promise.all([
    users.deleteOne({ _id: userId }),
    ...[credentials, sessions, twoFactors].map((of) => of.deleteMany({ userId })),
    mails.deleteMany({ to: email }),
    auditLog.deleteMany({ by: email }),
  ]);
}

/** What the sign-in library stores for a second factor, with the app's secret and the backup codes. */
type Factor = { secret: string; backupCodes: string[]; stored: SecondFactor };

/** The first second factor of this process. Other users get the same: setting one up costs 40 ms. */
let madeFactor: Factor | undefined;

/**
 * Gives a user a second factor, without requests. The session counts as one in which a code was entered. Returns the
 * same as `setUpTwoFactor`; the session stays the same.
 */
export async function giveTwoFactor(
  web: WebApp,
  { userId, headers }: Pick<SignedInUser, 'userId' | 'headers'>,
): ReturnType<typeof setUpTwoFactor> {
  const { users, sessions, twoFactors, clock } = web.deps;
  if (!madeFactor) {
    const first = await signIn(web);
    const made = await setUpTwoFactor(web, first);
    const stored = await twoFactors.findOne({ userId: first.userId });
    if (!stored) throw new Error('the library has not stored the second factor');
    madeFactor = { ...made, stored };
    await removeUser(web.deps, first);
  }
  await twoFactors.insertOne({ ...madeFactor.stored, _id: new ObjectId(), userId });
  await users.updateOne({ _id: userId }, { $set: { twoFactorEnabled: true } });
  await sessions.updateMany({ userId }, { $set: { secondFactorAt: clock.now() } });
  return { secret: madeFactor.secret, backupCodes: madeFactor.backupCodes, headers };
}

/**
 * Sets up a second factor for a user on the pages. Returns the app's secret, the backup codes, and the new session. It uses the
 * previous code, so that the current one stays unused; if the previous code has just expired, it uses the next one.
 */
export async function setUpTwoFactor(
  web: WebApp,
  { headers }: Pick<SignedInUser, 'headers'>,
): Promise<{ secret: string; backupCodes: string[]; headers: { cookie: string } }> {
  const begun = await sendForm(web, '/account/two-factor/begin', { password: PASSWORD }, headers);
  expect(begun.statusCode, begun.body).toBe(200);
  const secret = copied(begun.body);
  const confirm = () => {
    const code = codeOf(secret, Date.now() - 30_000);
    return sendForm(web, '/account/two-factor/confirm', { code }, headers);
  };
  const first = await confirm();
  const confirmed = first.statusCode === 200 ? first : await confirm();
  expect(confirmed.statusCode, confirmed.body).toBe(200);
  return { secret, backupCodes: copied(confirmed.body).split('\n'), headers: cookiesOf(confirmed) };
}
