import type { FastifyInstance } from 'fastify';
import { UUID } from 'mongodb';
import { z } from 'zod';
import { sendRefusal } from '../../http/http-errors.ts';
import { defineMessage, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { stopMailReminder } from '../../reminders/keep-mail-reminder.ts';
import { type Kept, keepReminder, stopReminder, TOO_MANY_REMINDERS } from '../../reminders/keep-reminder.ts';
import { MOST_REMINDED, REMINDER_TTL_MS } from '../../reminders/reminder.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE, ONE_CLICK } from '../route-options.ts';
import type { Site } from '../shared/decorate-site.ts';
import { readForm } from '../shared/form.ts';
import { duration } from '../shared/format.ts';
import { html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { button } from '../shared/parts.ts';
import { votedInBrowser } from './other-servers.ts';
import { type ReminderWays, readReminderWays, reminderParts, remindsVoters } from './reminder-part.ts';

/** In UTF-16 code units; longer values are no subscription. */
const text = z.string().max(2_048);

const stopForm = z.object({ endpoint: text });
const reminderForm = stopForm.extend({
  p256dh: text,
  auth: text,
  key: text,
  timeZone: z.string().max(64),
  /** Ids of votes, with spaces between them. */
  votes: text.transform((value) =>
    value
      .split(' ')
      .filter((id) => UUID.isValid(id))
      .slice(0, MOST_REMINDED)
      .map((id) => new UUID(id)),
  ),
});

const REFUSALS = {
  'no-subscription': defineMessage('This is no subscription of a push service.'),
  'other-key': defineMessage('The browser subscribed with an earlier key of this site.'),
  'no-vote': defineMessage('None of these votes is stored here.'),
};

/**
 * `/reminders`: where a reminder leads, and where it is stopped. Scripts send the two forms: only the browser knows its
 * subscription, whose secret address is what allows to change it.
 */
export function reminderPages(app: FastifyInstance, deps: AppDeps): void {
  app.get('/reminders', ANYONE, async (request, reply) => {
    await app.limitPages(request);
    return sendPage(request, reply, remindersPage(app.site, await readReminderWays(deps, request)));
  });
  app.post('/reminders', ANYONE, async (request, reply) => {
    if (!remindsVoters(deps.config)) throw new PageError(404, t('This site has no reminders.'));
    const { data } = readForm(reminderForm, request);
    if (!data) return sendRefusal(reply, refusalOf('no-subscription'));
    const { key: publicKey, ...subscription } = data;
    const userId = request.signedIn?.user._id ?? null;
    const input = { ...subscription, publicKey, userId, language: request.language };
    const kept = await keepReminder(deps, input, request.ip);
    if (kept.kind === 'limited') throw new PageError(429, t(TOO_MANY_REMINDERS), kept.until);
    if (kept.kind !== 'kept') return sendRefusal(reply, refusalOf(kept.kind));
    request.log.info({ event: 'reminder.set' });
    return reply.header('cache-control', 'no-store').send({ due_at: kept.dueAt });
  });
  app.post('/reminders/stop', ANYONE, async (request, reply) => {
    const { data } = readForm(stopForm, request);
    if (!data) return sendRefusal(reply, refusalOf('no-subscription'));
    await stopReminder(deps, data.endpoint);
    return reply.code(204).send();
  });
  app.register(async (mails) => stopMailPages(mails, deps));
}

/** The link in each mail. Mailboxes and scanners of links open it too, so only the form ends the mails (RFC 8058). */
function stopMailPages(app: FastifyInstance, deps: AppDeps): void {
  // Of the form only that it was sent counts; RFC 8058 allows two content types.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null));
  const path = '/reminders/stop-mail/:token';
  app.get(path, ANYONE, (request, reply) => {
    const form = html`${button({ to: request.url, text: t('Stop these mails'), kind: 'primary' })}
      <p class="soft">${t('You can switch them on again after a vote.')}</p>`;
    return sendPage(request, reply, narrowPage(t('Reminders of votes'), form));
  });
  app.post(path, ONE_CLICK, async (request, reply) => {
    const { token: stopToken } = request.params as { token: string };
    const isStopped = await stopMailReminder(deps, { stopToken });
    if (isStopped) request.log.info({ event: 'reminder.mail_stopped' });
    const said = isStopped
      ? t('You get no more mails about votes.')
      : t('This link is not valid any more: the mails were stopped already, or switched on again since.');
    return sendPage(request, reply, narrowPage(t('Reminders of votes'), html`<p>${said}</p>`));
  });
}

const OTHER_KEY = { status: 409, code: 'conflict' } as const;
const MALFORMED = { status: 400, code: 'malformed' } as const;

type Refused = Exclude<Kept['kind'], 'kept' | 'limited'>;

function refusalOf(kind: Refused) {
  const refused = kind === 'other-key' ? OTHER_KEY : MALFORMED;
  return { ...refused, sentence: t(REFUSALS[kind]) };
}

function remindersPage(site: Site, ways: ReminderWays): Page {
  const about =
    ways.key === null && ways.byMail === null
      ? t('This site has no reminders.')
      : t(
          'After a vote, the button “Remind me of my next votes” lets this browser remind you. A browser that has not voted for {time} is forgotten.',
          { time: duration(REMINDER_TTL_MS) },
        );
  return {
    title: t('Reminders of votes'),
    styles: ['public.css'],
    scripts: ['voted.js', 'reminders.js'],
    body: html`<h1>${t('Reminders of votes')}</h1>
      <p class="soft">${about}</p>
      ${reminderParts(site, ways, { next: `${site.base}/reminders` })}${votedInBrowser()}`,
  };
}
