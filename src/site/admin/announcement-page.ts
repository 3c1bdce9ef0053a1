import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { inEnglish } from '../../language/t.ts';
import type { Announcement } from '../../moderation/announcement.ts';
import {
  clearAnnouncement,
  currentAnnouncement,
  LONGEST_ANNOUNCEMENT,
  setAnnouncement,
} from '../../moderation/announcements.ts';
import { OPERATOR } from '../route-options.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card } from '../shared/parts.ts';
import { optionalUtcMoment, utcFieldValue } from './admin-fields.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';

const MESSAGES = inEnglish({
  set: 'Announcement set. All pages show it within a minute.',
  cleared: 'Announcement removed.',
});

const form = z.object({ text: z.string(), level: z.string(), until: optionalUtcMoment });

export function announcementPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base, announcement: cache } = app.site;
  const path = adminPath(base, '/announcement');

  const page = async (typed?: Typed): Promise<Page> => {
    const current = await currentAnnouncement(deps);
    const body = formCard(path, typed ?? typedOf(current), current !== null);
    return adminPage({ base, part: '/announcement', title: 'Announcement', messages: MESSAGES, body });
  };

  app.get('/announcement', OPERATOR, async (request, reply) => sendPage(request, reply, await page()));

  formRoute(app, {
    path: '/announcement',
    access: OPERATOR,
    schema: form,
    show: (_request, typed) => page(typed),
    run: async ({ by, data }) => {
      await setAnnouncement(deps, data, by);
      await cache.reload();
      return `${path}?done=set`;
    },
  });

  formRoute(app, {
    path: '/announcement/clear',
    access: OPERATOR,
    run: async ({ by }) => {
      const cleared = await clearAnnouncement(deps, by);
      await cache.reload();
      return `${path}${cleared ? '?done=cleared' : ''}`;
    },
  });
}

function typedOf(current: Announcement | null): Typed {
  if (!current) return UNTOUCHED;
  const { text, level, until } = current;
  return { values: { text, level, until: until ? utcFieldValue(until) : '' }, errors: {} };
}

function formCard(path: string, typed: Typed, isSet: boolean): Html {
  const fields = fieldsOf(typed);
  return card({
    title: 'Announcement on all pages',
    body: html`<form method="post" action="${path}" class="stack fields">
        ${fields.area('text', {
          label: 'Text',
          hint: `Markdown without pictures and tables, up to ${LONGEST_ANNOUNCEMENT} characters.`,
          required: true,
          rows: 5,
        })}
        ${fields.select('level', {
          label: 'Level',
          options: [
            ['info', 'Information'],
            ['warning', 'Warning'],
          ],
        })}
        ${fields.text('until', {
          label: 'Shown until',
          hint: 'UTC. Empty: until you remove it.',
          type: 'datetime-local',
        })}
        <button type="submit">Show on all pages</button>
      </form>
      ${isSet ? button({ to: `${path}/clear`, text: 'Remove the announcement', kind: 'danger' }) : ''}`,
  });
}
