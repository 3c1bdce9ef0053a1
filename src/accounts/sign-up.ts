import { ObjectId } from 'mongodb';
import { after, type Clock, DAY } from '../platform/clock.ts';
import { storedEmail } from '../platform/email-address.ts';
import type { Auth } from './auth.ts';
import type { AccountsDeps } from './deps.ts';
import { forLibrary } from './library-email.ts';
import { hashOneTimeToken, makeOneTimeToken } from './one-time-token.ts';
import { notifyKnownAddress, sendLink } from './send-link.ts';
import type { User } from './user.ts';
import { ensureUser } from './users.ts';

export const LINK_MS = DAY;

/**
 * Sends a sign-up link and makes no account yet, so that nobody can take an address that is not theirs. An address with
 * a confirmed account gets a mail that says so. Unconfirmed accounts, made by an earlier version or while the listing
 * sent no mail, get the same link as new users. `next`: the page to which the user returns. It is not part of the link:
 * anybody could choose the text of a link in our mail to a stranger.
 */
export async function offerAccount(deps: AccountsDeps, email: string, next = ''): Promise<void> {
  const { users, verifications, clock, config } = deps;
  const address = storedEmail(email);
  const user = await users.findOne({ email: address });
  if (user?.emailVerified) return notifyKnownAddress(deps, user);
  const token = makeOneTimeToken();
  const now = clock.now();
  await verifications.insertOne({
    _id: new ObjectId(),
    identifier: identifierOf(token),
    value: address,
    ...(next === '' ? {} : { next }),
    expiresAt: after(now, LINK_MS),
  });
  const link = `${config.PUBLIC_URL}/verify-email?token=${token}`;
  await sendLink(deps, { kind: 'verify-email', user: { email: address }, address: link });
}

/**
 * A link to set a new password or, if the address is unconfirmed, to finish the sign-up. An unknown address gets no
 * mail.
 */
export async function sendEntryLink(deps: AccountsDeps, auth: Auth, email: string): Promise<void> {
  const address = storedEmail(email);
  const user = await deps.users.findOne({ email: address });
  if (user && !user.emailVerified) await offerAccount(deps, address);
  else await auth.api.requestPasswordReset({ body: { email: forLibrary(address) } });
}

/** `next` is `''` for none. Null when the link is unknown or expired. */
export async function readSignUp({ verifications, clock }: AccountsDeps, token: string) {
  const found = await verifications.findOne(usable(token, clock));
  return found && { email: found.value, next: found.next ?? '' };
}

/** An unconfirmed account with this address loses its password, its second factor and its sessions. */
export async function finishSignUp(
  deps: AccountsDeps,
  auth: Auth,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<User | 'useless-link' | 'has-account'> {
  const { users, verifications, clock } = deps;
  const link = await readSignUp(deps, token);
  if (link === null) return 'useless-link';
  const { email } = link;
  const context = await auth.$context;
  const hash = await context.password.hash(password);
  // Of a form that was sent twice, only one request continues.
  const used = await verifications.findOneAndDelete(usable(token, clock));
  if (!used) return 'useless-link';
  await verifications.deleteMany({ value: email });
  if (await users.findOne({ email, emailVerified: true })) return 'has-account';
  const { user } = await ensureUser(deps, { email, name });
  const userId = user._id.toHexString();
  await context.internalAdapter.linkAccount({
    userId,
    providerId: 'credential',
    accountId: userId,
    password: hash,
  });
  await deps.adoptServers(user._id);
  return user;
}

function usable(token: string, clock: Clock) {
  return { identifier: identifierOf(token), expiresAt: { $gt: clock.now() } };
}

function identifierOf(token: string): string {
  return `sign-up:${hashOneTimeToken(token)}`;
}
