import type { FastifyInstance } from 'fastify';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Announcement, AnnouncementLevel } from '../../moderation/announcement.ts';
import { currentAnnouncement, isShown } from '../../moderation/announcements.ts';
import { SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import { renderMarkdown } from '../../platform/markdown.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type Content, html, raw } from './html.ts';

/** After this time, a process reads the announcement again, because another process may have changed it. */
const STALE_MS = 5 * SECOND;
/** A request waits at most this long for a read. If the read takes longer, the page shows the previous announcement. */
const WAIT_MS = SECOND / 4;

/** A web process's copy of the announcement. */
export type AnnouncementCache = {
  /** The announcement as HTML for `layout`; empty if there is none. */
  shown(): Content;
  /**
   * Reads the announcement again if the copy is stale. Concurrent calls share one read. If the read fails, the old copy
   * is used for `STALE_MS` more.
   */
  refresh(): Promise<void> | undefined;
  /** Reads the announcement at once. Call it after this process has changed the announcement. */
  reload(): Promise<void>;
};

type Known = Pick<Announcement, 'until' | 'level'> & { html: string };

/** Creates a cache of the announcement, so that not every page reads it from MongoDB. */
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
      // If MongoDB hangs: requests wait until `WAIT_MS` after the start of the read. Later requests do not wait.
      return left > 0 ? within(left, reading.work).catch(() => undefined) : undefined;
    },
    reload: read,
  };
}

/** Before each request in this scope, refreshes the announcement if it is too old. */
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

/** The announcement as a `details` element, which visitors can close without JavaScript. */
function shown({ html: text, level }: Known): Content {
  return html`<details class="announcement ${level}" open>
    <summary>${t(TITLES[level])}</summary>
    <div class="prose" dir="auto">${raw(text)}</div>
  </details>`;
}
