import type { FastifyInstance } from 'fastify';
import type { WithId } from 'mongodb';
import { t } from '../../language/t.ts';
import { after, DAY, MINUTE } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import type { Server } from '../../servers/server.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE } from '../route-options.ts';
import type { Site } from '../shared/decorate-site.ts';
import { publicPath } from '../shared/server-paths.ts';
import { followingRenames, serverByCurrentSlug, slugOfRequest } from './server-of-path.ts';

export function reminderPath(server: Pick<Server, 'slug'>, at: Date): string {
  return publicPath(server, `/vote/reminder.ics?at=${encodeURIComponent(at.toISOString())}`);
}

/** A next vote is never further away than this, because a cooldown lasts a day. */
const FURTHEST_MS = 2 * DAY;

/** Not for a time in a pause of the listing. Made without reading any vote, so nobody can find out with it whether and when a player voted. */
export function voteReminder(app: FastifyInstance, deps: AppDeps): void {
  app.get('/servers/:slug/vote/reminder.ics', ANYONE, (request, reply) =>
    followingRenames(request, reply, async () => {
      const now = deps.clock.now();
      const { at } = request.query as { at?: unknown };
      const time = timeOf(at);
      if (!time || Math.abs(time.getTime() - now.getTime()) > FURTHEST_MS)
        throw new PageError(404, t('There is no reminder for this time.'));
      const server = await serverByCurrentSlug(deps, slugOfRequest(request));
      if (pauseAt(server, time)) throw new PageError(404, t('This server is paused then.'));
      return reply
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="vote-${server.slug}.ics"`)
        .type('text/calendar; charset=utf-8')
        .send(reminderCalendar(app.site, server, time, now));
    }),
  );
}

/** Null unless it has the format of `toISOString`. */
function timeOf(at: unknown): Date | null {
  if (typeof at !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(at)) return null;
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** RFC 5545: one event with an alarm. The UID depends only on the server and the time. */
export function reminderCalendar(
  { url, name }: Pick<Site, 'url' | 'name'>,
  server: Pick<WithId<Server>, '_id' | 'name' | 'slug'>,
  at: Date,
  now: Date,
): string {
  const summary = text(t('Vote for {server}', { server: server.name }));
  const address = `${url}${publicPath(server, '/vote')}`;
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `PRODID:-//Tallyport//${text(name)}//EN`,
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    `UID:vote-${server._id.toHexString()}-${utc(at)}@${new URL(url).hostname}`,
    `DTSTAMP:${utc(now)}`,
    `DTSTART:${utc(at)}`,
    `DTEND:${utc(after(at, REMINDER_MS))}`,
    `SUMMARY:${summary}`,
    `DESCRIPTION:${text(address)}`,
    `URL:${address}`,
    'TRANSP:TRANSPARENT',
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    `DESCRIPTION:${summary}`,
    'TRIGGER:PT0S',
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

const REMINDER_MS = 5 * MINUTE;

/** To the second: `20261127T163345Z`. */
function utc(at: Date): string {
  return at.toISOString().replace(/[-:]|\.\d+/g, '');
}

/** The type TEXT: escapes backslash, semicolon, comma and line break; removes other control characters. */
function text(value: string): string {
  return value
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n?|\n/g, '\\n')
    .replace(/\p{Cc}/gu, '');
}

/** In bytes, without the line break. */
const LONGEST_LINE = 75;

/** RFC 5545, 3.1: each further line begins with a space. No character is split. */
function folded(line: string): string {
  let bytes = 0;
  let result = '';
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LONGEST_LINE) {
      result += '\r\n ';
      bytes = 1;
    }
    result += character;
    bytes += size;
  }
  return result;
}
