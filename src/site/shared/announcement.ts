import type { FastifyInstance } from 'fastify';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Announcement, AnnouncementLevel } from '../../moderation/announcement.ts';
import { currentAnnouncement, isShown } from '../../moderation/announcements.ts';
import { SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import { renderMarkdown } from '../../platform/markdown.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type Content, html, raw } from './html.ts';

/** A process shows an announcement that another one set after this time. */
const STALE_MS = 5 * SECOND;
/** A request waits this long for a new one, and else shows what is known. */
const WAIT_MS = SECOND / 4;

/** The announcement as a web process knows it. */
export type AnnouncementCache = {
  /** What the layout shows; nothing without an announcement. */
  shown(): Content;
  /** Reads it again if it is stale. Concurrent calls share one read; a failure changes nothing. */
  refresh(): Promise<void> | undefined;
  /** Reads it again, after this process changed it. */
  reload(): Promise<void>;
};

type ReadDeps = Pick<AppDeps, 'announcements' | 'clock' | 'log'>;
type Known = Pick<Announcement, 'until' | 'level'> & { html: string };

/** Reads the announcement and keeps it, so that a page does not ask MongoDB for it. */
export function createAnnouncementCache(deps: ReadDeps): AnnouncementCache {
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
      // Only the first requests of an outage wait.
      return left > 0 ? within(left, reading.work).catch(() => undefined) : undefined;
    },
    reload: read,
  };
}

/** Keeps the announcement of the pages in this scope fresh. */
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

/** Visitors close it without a script. */
function shown({ html: text, level }: Known): Content {
  return html`<details class="announcement ${level}" open>
    <summary>${t(TITLES[level])}</summary>
    <div class="prose" dir="auto">${raw(text)}</div>
  </details>`;
}
