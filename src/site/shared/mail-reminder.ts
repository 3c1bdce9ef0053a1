import type { FastifyRequest } from 'fastify';
import { canBeMailed } from '../../accounts/can-be-mailed.ts';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { wantsMailReminder } from '../../reminders/keep-mail-reminder.ts';
import type { Site } from './decorate-site.ts';
import { type Html, html } from './html.ts';
import { button } from './parts.ts';

/** Null if this visitor cannot get mails. */
export async function readMailReminder(
  deps: AppDeps,
  { signedIn }: Pick<FastifyRequest, 'signedIn'>,
): Promise<boolean | null> {
  if (!signedIn || !canBeMailed(deps.config, signedIn.user)) return null;
  return wantsMailReminder(deps, signedIn.user._id);
}

/** `next`: the path to return to. `vote`: the id of the vote that was just cast. */
export function mailReminderForm(
  { base }: Pick<Site, 'base'>,
  isOn: boolean,
  hidden: { next: string; vote?: string },
): Html {
  const to = `${base}/account/vote-reminder`;
  if (isOn)
    return html`<p>${t('You get a mail when you can vote again, at most once a day.')}</p>
      ${button({ to, text: t('Stop these mails'), hidden: { ...hidden, wanted: 'no' } })}`;
  const about = t('At most once a day, with the servers that you voted for while signed in.');
  return html`${button({ to, text: t('E-mail me when I can vote again'), hidden: { ...hidden, wanted: 'yes' } })}
    <p class="soft small">${about}</p>`;
}
