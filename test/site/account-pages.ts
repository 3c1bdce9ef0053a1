import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { mailContext } from '../../src/mail/outbox.ts';
import type { Platform } from '../../src/process/platform.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD, type SignedInUser } from '../support/sign-in.ts';
import { sendForm, type WebApp } from '../support/web-app.ts';

type Answer = Awaited<ReturnType<FastifyInstance['inject']>>;

/** The cookies that an answer sets, as a browser sends them back. */
export function cookiesOf(answer: Answer): { cookie: string } {
  const kept = answer.cookies.filter(({ value, maxAge }) => value !== '' && maxAge !== 0);
  return { cookie: kept.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ') };
}

/** Whether `headers` are somebody's who is signed in. */
export async function isSignedIn(web: WebApp, headers: { cookie: string }): Promise<boolean> {
  const url = `${web.platform.config.basePath}/account`;
  const answer = await web.app.inject({ url, headers: { accept: 'text/html', ...headers } });
  return answer.statusCode === 200;
}

/** Sends the form to sign in. */
export function sendSignIn(
  web: WebApp,
  email: string,
  password = PASSWORD,
  headers: Record<string, string> = {},
) {
  return sendForm(web, '/sign-in', { email, password }, headers);
}

/** Removes all users, what they may sign in with and what they did, for a test of lists that show everybody. */
export async function removeUsers(platform: Platform): Promise<void> {
  const { users, credentials, sessions, verifications, twoFactors, rateLimits, mails, auditLog } = platform;
  const all = [users, credentials, sessions, verifications, twoFactors, rateLimits, mails, auditLog];
  await Promise.all(all.map((collection) => collection.deleteMany({})));
}

/** The texts of the mails to somebody, oldest first. */
export async function mailsTo({ mails, secrets }: Platform, to: string): Promise<string[]> {
  const found = await mails.find({ to }).sort({ createdAt: 1, _id: 1 }).toArray();
  return found.map(({ _id, sealedText }) => secrets.open(sealedText ?? '', mailContext(_id)));
}

/** The path and query of the newest link that somebody got by mail. */
export async function linkTo(platform: Platform, to: string): Promise<string> {
  const text = (await mailsTo(platform, to)).at(-1) ?? '';
  const [link = ''] = /https?:\/\/\S+\?token=\S+/.exec(text) ?? [];
  const url = new URL(link);
  return `${url.pathname.slice(platform.config.basePath.length)}${url.search}`;
}

/** The token of a link. */
export function tokenOf(link: string): string {
  return new URL(link, 'http://localhost').searchParams.get('token') ?? '';
}

/** The text of what can be copied on a page. */
export function copied(body: string): string {
  return /<code>([^<]*)<\/code>/.exec(body)?.[1] ?? '';
}

/**
 * Sets up a second factor for somebody: the app's secret, the backup codes, and the new session. The code is the one
 * before the present one, so that the present one is not used up; when it grows too old on its way, the next does.
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
