import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { contactText } from '../shared/contact.ts';
import type { Site } from '../shared/site-settings.ts';

/** What a suspended user reads after entering the right password: the reason for them, and how to reach the operator. */
export async function suspensionNotice(
  { users }: Pick<AppDeps, 'users'>,
  site: Pick<Site, 'url' | 'pages' | 'contact'>,
  email: string,
): Promise<string> {
  const user = await users.findOne(
    { email: email.toLowerCase() },
    { projection: { suspendedAt: 1, suspensionReason: 1 } },
  );
  return suspendedText(site, user?.suspendedAt ? user.suspensionReason : undefined);
}

/** That an account is suspended, why, and how to reach the operator. */
export function suspendedText(
  site: Pick<Site, 'url' | 'pages' | 'contact'>,
  reason?: string | null | undefined,
): string {
  const why = reason
    ? t('This account is suspended: “{reason}”', { reason })
    : t('This account is suspended.');
  return `${why}${contactText(site) || ` ${t('Contact the operator of this listing.')}`}`;
}
