import type { ObjectId } from 'mongodb';
import { t } from '../language/t.ts';
import { putMail } from '../mail/outbox.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { canBeMailed } from './can-be-mailed.ts';
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
const MAILS: Record<AccountChange | 'two-factor-reset', (site: string) => ChangeText> = {
  'two-factor-on': () => ({
    subject: t('Your second factor is on'),
    text: t('The second factor of your account was switched on.'),
  }),
  'two-factor-off': () => ({
    subject: t('Your second factor is off'),
    text: t('The second factor of your account was switched off. Your password alone opens it now.'),
  }),
  'backup-codes': () => ({
    subject: t('You have new backup codes'),
    text: t('New backup codes were made for your account. The old ones work no more.'),
  }),
  password: () => ({
    subject: t('Your password is changed'),
    text: t('A new password was set for your account.'),
  }),
  'site-linked': (site) => ({
    subject: t('You can sign in with {site}', { site }),
    text: t(
      'Your account can now be opened with your account at {site}. You can unlink it on the page of your account, if the account has a password.',
      { site },
    ),
  }),
  'site-unlinked': (site) => ({
    subject: t('Your account is no longer linked to {site}', { site }),
    text: t(
      'The link of your account to {site} was removed. Your password still opens it. A sign-in with {site} and the same e-mail address links it again.',
      { site },
    ),
  }),
  'two-factor-reset': () => ({
    subject: t('Your second factor was taken away'),
    text: t(
      'An operator has taken the second factor of your account away. Your password alone opens it now.',
    ),
  }),
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
  user: Pick<User, 'email' | 'emailVerified'>,
  change: keyof typeof MAILS,
  site = '',
): Promise<void> {
  if (!canBeMailed(deps.config, user)) return;
  const { subject, text } = MAILS[change](site);
  const ifNotYou = t(
    'If this was not you, set a new password now, look at your sessions, and tell the operator: {page}',
    { page: `${deps.config.PUBLIC_URL}/forgot-password` },
  );
  await putMail(deps, { to: user.email, ...mailText(deps.config, subject, text, ifNotYou) });
}
