import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { inEnglish } from '../../language/t.ts';
import type { Announcement } from '../../moderation/announcement.ts';
import {
  clearAnnouncement,
  currentAnnouncement,
  LONGEST_ANNOUNCEMENT,
  setAnnouncement,
} from '../../moderation/announcements.ts';
import { userOf } from '../access.ts';
import { OPERATOR } from '../page-route.ts';
import { errorsOf, readForm, type Typed } from '../shared/form.ts';
import { type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { button, card, notice, select, textArea, textField } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { minuteOf, utcMoment } from './utc-fields.ts';

const MESSAGES = inEnglish({
  set: 'Announcement set. All pages show it within a minute.',
  cleared: 'Announcement removed.',
});

const form = z.object({
  text: z.string(),
  level: z.string(),
  until: z.union([z.literal('').transform(() => null), utcMoment], 'must be a time such as 2026-11-21T14:02'),
});

/** `/operator/announcement`: the text at the top of all pages. */
export function announcementPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base, announcement: cache } = app.site;
  const path = adminPath(base, '/announcement');

  const show = async (request: FastifyRequest, reply: FastifyReply, typed?: Typed) => {
    const current = await currentAnnouncement(deps);
    const body = html`${formCard(path, typed ?? typedOf(current), current !== null)}`;
    const frame = adminFrame({ base, part: '/announcement', body });
    const page = { title: 'Announcement', messages: MESSAGES, body: frame };
    return sendPage(request, reply, page, typed ? 400 : 200);
  };

  app.get('/announcement', OPERATOR, (request, reply) => show(request, reply));

  app.post('/announcement', OPERATOR, async (request, reply) => {
    const { data, typed } = readForm(form, request);
    if (!data) return show(request, reply, typed);
    try {
      await setAnnouncement(deps, data, userOf(request).email);
    } catch (error) {
      return show(request, reply, errorsOf(error, typed.values));
    }
    await cache.reload();
    return reply.redirect(`${path}?done=set`, 303);
  });

  app.post('/announcement/clear', OPERATOR, async (request, reply) => {
    const cleared = await clearAnnouncement(deps, userOf(request).email);
    await cache.reload();
    return reply.redirect(`${path}${cleared ? '?done=cleared' : ''}`, 303);
  });
}

function typedOf(current: Announcement | null): Typed {
  if (!current) return { values: {}, errors: {} };
  const { text, level, until } = current;
  return { values: { text, level, until: until ? minuteOf(until) : '' }, errors: {} };
}

function formCard(path: string, { values, errors }: Typed, isSet: boolean): Html {
  return card({
    title: 'Announcement on all pages',
    body: html`${errors.form ? notice('bad', errors.form) : ''}
      <form method="post" action="${path}" class="stack">
        ${textArea({ name: 'text', label: 'Text', hint: `Markdown without pictures and tables, up to ${LONGEST_ANNOUNCEMENT} characters.`, required: true, rows: 5, value: values.text ?? '', error: errors.text })}
        ${select({
          name: 'level',
          label: 'Level',
          value: values.level,
          error: errors.level,
          options: [
            ['info', 'Information'],
            ['warning', 'Warning'],
          ],
        })}
        ${textField({ name: 'until', label: 'Shown until', hint: 'UTC. Empty: until you remove it.', type: 'datetime-local', value: values.until ?? '', error: errors.until })}
        <button type="submit">Show on all pages</button>
      </form>
      ${isSet ? button({ to: `${path}/clear`, text: 'Remove the announcement', kind: 'danger' }) : ''}`,
  });
}
