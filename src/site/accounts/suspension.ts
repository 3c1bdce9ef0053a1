import { t } from '../../language/t.ts';
import { storedEmail } from '../../platform/email-address.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { contactText } from '../shared/contact.ts';
import type { Site } from '../shared/decorate-site.ts';

/** The text with the reason reveals the suspension: call this only after the right password. */
export async function suspensionNotice({ users }: AppDeps, site: Site, email: string): Promise<string> {
  const projection = { suspendedAt: 1, suspensionReason: 1 };
  const user = await users.findOne({ email: storedEmail(email) }, { projection });
  return suspendedText(site, user?.suspendedAt ? user.suspensionReason : undefined);
}

export function suspendedText(site: Site, reason?: string | null): string {
  const why = reason
    ? t('This account is suspended: “{reason}”', { reason })
    : t('This account is suspended.');
  return `${why}${contactText(site) || ` ${t('Contact the operator of this listing.')}`}`;
}
