import type { ObjectId } from 'mongodb';
import { putMail } from '../mail/outbox.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { AccountsDeps } from './deps.ts';
import { mailText } from './mail-text.ts';
import type { User } from './user.ts';

export type AccountChange =
  | 'two-factor-on'
  | 'two-factor-off'
  | 'backup-codes'
  | 'password'
  | 'site-linked'
  | 'site-unlinked';

type ChangedUser = Pick<User, 'email' | 'emailVerified'> & { _id: ObjectId };

type ChangeText = { subject: string; text: string };

/** `site`: the name of the site that was linked or unlinked. */
const MAILS: Record<AccountChange | 'two-factor-reset', ChangeText | ((site: string) => ChangeText)> = {
  'two-factor-on': {
    subject: 'Your second factor is on',
    text: 'The second factor of your account was switched on.',
  },
  'two-factor-off': {
    subject: 'Your second factor is off',
    text: 'The second factor of your account was switched off. Your password alone opens it now.',
  },
  'backup-codes': {
    subject: 'You have new backup codes',
    text: 'New backup codes were made for your account. The old ones work no more.',
  },
  password: { subject: 'Your password is changed', text: 'A new password was set for your account.' },
  'site-linked': (site) => ({
    subject: `You can sign in with ${site}`,
    text: `Your account can now be opened with your account at ${site}. You can unlink it on the page of your account, if the account has a password.`,
  }),
  'site-unlinked': (site) => ({
    subject: `Your account is no longer linked to ${site}`,
    text: `The link of your account to ${site} was removed. Your password still opens it. A sign-in with ${site} and the same e-mail address links it again.`,
  }),
  'two-factor-reset': {
    subject: 'Your second factor was taken away',
    text: 'An operator has taken the second factor of your account away. Your password alone opens it now.',
  },
};

/** Records a user's change to their own account in the audit log and mails the user about it. */
export async function noteAccountChange(
  deps: AccountsDeps,
  user: ChangedUser,
  change: AccountChange,
  site?: string,
): Promise<void> {
  const details = { personId: user._id.toHexString(), ...(site ? { site } : {}) };
  await recordAudit(deps, { by: user.email, action: `account.${change}`, serverId: null, details });
  await mailAccountChange(deps, user, change, site);
}

/**
 * Mails a user who has switched mails off too, because it is a security mail. An unconfirmed address may be a
 * stranger's.
 */
export async function mailAccountChange(
  deps: AccountsDeps,
  { email, emailVerified }: Pick<User, 'email' | 'emailVerified'>,
  change: keyof typeof MAILS,
  site = '',
): Promise<void> {
  const { SMTP_URL, PUBLIC_URL: url } = deps.config;
  if (SMTP_URL === undefined || !emailVerified) return;
  const mail = MAILS[change];
  const { subject, text } = typeof mail === 'function' ? mail(site) : mail;
  const ifNotYou = `If this was not you, set a new password now, look at your sessions, and tell the operator: ${url}/forgot-password`;
  await putMail(deps, { to: email, ...mailText(deps.config, subject, text, ifNotYou) });
}
