import type { FastifyInstance } from 'fastify';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Announcement, AnnouncementLevel } from '../../moderation/announcement.ts';
import { currentAnnouncement, isShown } from '../../moderation/announcements.ts';
import { SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import { renderMarkdown } from '../../platform/markdown.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type Content, html, raw } from './html.ts';

/** Another process may have changed the announcement. */
const STALE_MS = 5 * SECOND;
/** If a read takes longer, the page shows the previous announcement. */
const WAIT_MS = SECOND / 4;

export type AnnouncementCache = {
  shown(): Content;
  /** Concurrent calls share one read. If it fails, the old copy is used for `STALE_MS` more. */
  refresh(): Promise<void> | undefined;
  reload(): Promise<void>;
};

type Known = Pick<Announcement, 'until' | 'level'> & { html: string };

export function createAnnouncementCache(deps: AppDeps): AnnouncementCache {
  let current: Known | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: { work: Promise<void>; since: number } | undefined;

  async function read(): Promise<void> {
    const start = performance.now();
    try {
      const found = await currentAnnouncement(deps);
      current = found && { until: found.until ?? null, level: found.level, html: renderMarkdown(found.text) };
    } catch (error) {
      deps.log.debug({ event: 'announcement.not_read', reason: String(error) });
    }
    readAt = start;
  }

  return {
    shown: () => (current && isShown(current, deps.clock.now()) ? shown(current) : ''),
    refresh() {
      const now = performance.now();
      if (now - readAt < STALE_MS) return undefined;
      if (!reading) {
        const work = read().finally(() => {
          reading = undefined;
        });
        reading = { work, since: now };
      }
      const left = WAIT_MS - (now - reading.since);
      // If MongoDB hangs, later requests do not wait.
      return left > 0 ? within(left, reading.work).catch(() => undefined) : undefined;
    },
    reload: read,
  };
}

export function refreshAnnouncement(app: FastifyInstance): void {
  const { announcement } = app.site;
  app.addHook('onRequest', async () => {
    await announcement.refresh();
  });
}

const TITLES: Record<AnnouncementLevel, Text> = {
  info: defineMessage('Announcement'),
  warning: defineMessage('Warning'),
};

function shown({ html: text, level }: Known): Content {
  return html`<details class="announcement ${level}" open>
    <summary>${t(TITLES[level])}</summary>
    <div class="prose" dir="auto">${raw(text)}</div>
  </details>`;
}
