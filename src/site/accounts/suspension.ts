import { t } from '../../language/t.ts';
import { storedEmail } from '../../platform/email-address.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { contactText } from '../shared/contact.ts';
import type { Site } from '../shared/decorate-site.ts';

/**
 * The `suspendedText` for the user with this e-mail address. Call it only after the right password, because the text
 * reveals the suspension.
 */
export async function suspensionNotice(
  { users }: AppDeps,
  site: Pick<Site, 'url' | 'pages' | 'contact'>,
  email: string,
): Promise<string> {
  const user = await users.findOne(
    { email: storedEmail(email) },
    { projection: { suspendedAt: 1, suspensionReason: 1 } },
  );
  return suspendedText(site, user?.suspendedAt ? user.suspensionReason : undefined);
}

/** The text for a suspended user: the reason, and how to contact the operator. */
export function suspendedText(
  site: Pick<Site, 'url' | 'pages' | 'contact'>,
  reason?: string | null | undefined,
): string {
  const why = reason
    ? t('This account is suspended: “{reason}”', { reason })
    : t('This account is suspended.');
  return `${why}${contactText(site) || ` ${t('Contact the operator of this listing.')}`}`;
}
