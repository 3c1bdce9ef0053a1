import type { FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readPushKey } from '../../reminders/read-push-key.ts';
import { SILENT_FROM_HOUR, SILENT_UNTIL_HOUR } from '../../reminders/silent-hours.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Content, html } from '../shared/html.ts';
import { mailReminderForm, readMailReminder } from '../shared/mail-reminder.ts';

/** Browsers offer web push only to pages with HTTPS. */
export function remindsVoters({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): boolean {
  return PUBLIC_URL.startsWith('https:');
}

/** The key with which browsers subscribe; null if the site has no reminders. */
async function readReminderKey(deps: AppDeps): Promise<string | null> {
  return remindsVoters(deps.config) ? readPushKey(deps) : null;
}

/** How this visitor can be reminded. `key`: see `readReminderKey`; `byMail`: see `readMailReminder`. */
export type ReminderWays = { key: string | null; byMail: boolean | null };

export async function readReminderWays(
  deps: AppDeps,
  request: Pick<FastifyRequest, 'signedIn'>,
): Promise<ReminderWays> {
  const [key, byMail] = await Promise.all([readReminderKey(deps), readMailReminder(deps, request)]);
  return { key, byMail };
}

/** `returning`: see `mailReminderForm`. */
export function reminderParts(
  site: Site,
  { key, byMail }: ReminderWays,
  returning: Parameters<typeof mailReminderForm>[2],
): Content {
  const mail =
    byMail === null
      ? ''
      : html`<section class="panel stack"><h2>${t('Reminder by mail')}</h2>
          ${mailReminderForm(site, byMail, returning)}</section>`;
  return html`${reminderPart(site, key)}${mail}`;
}

/** Hidden until scripts/reminders.js finds that this browser has voted here and can be reminded. */
function reminderPart({ base }: Site, key: string | null): Content {
  if (key === null) return '';
  const settings = { key, base, failed: t('The browser did not allow it.') };
  const about = t(
    'One notification of this browser for all servers that you voted for here. It names neither you nor a server. None comes between {from}:00 and {until}:00, or if you have voted meanwhile.',
    { from: SILENT_FROM_HOUR, until: SILENT_UNTIL_HOUR },
  );
  const install = t(
    'On an iPhone or iPad, first add this page to the Home Screen (Share → Add to Home Screen). Open it from there, and vote there: then you can switch on reminders.',
  );
  return html`<section class="panel reminder" data-reminder="${JSON.stringify(settings)}" hidden>
    <h2>${t('Reminder')}</h2>
    <div data-off hidden><p><button type="button" class="quiet">${t('Remind me of my next votes')}</button></p>
      <p class="soft small">${about}</p></div>
    <div data-on hidden><p>${t('This browser reminds you of your next votes.')}</p>
      <p><button type="button" class="quiet">${t('Stop reminders')}</button></p></div>
    <p data-install hidden>${install}</p>
    <p class="small error" role="status" data-said></p>
  </section>`;
}
