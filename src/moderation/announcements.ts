import { z } from 'zod';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { longText } from '../platform/text.ts';
import { ANNOUNCEMENT_LEVELS, type Announcement } from './announcement.ts';
import type { ModerationDeps } from './deps.ts';

/** In code points. */
export const LONGEST_ANNOUNCEMENT = 1_000;

const CURRENT = 'current';

const announcementInput = z.object({
  text: longText(LONGEST_ANNOUNCEMENT).refine((text) => text !== '', 'must not be empty'),
  level: z.enum(ANNOUNCEMENT_LEVELS, `must be ${ANNOUNCEMENT_LEVELS.join(' or ')}`),
  until: z.date().nullable(),
});

/** null if there is none or its time is over. */
export async function currentAnnouncement({
  announcements,
  clock,
}: ModerationDeps): Promise<Announcement | null> {
  const found = await announcements.findOne({ _id: CURRENT });
  return found && isShown(found, clock.now()) ? found : null;
}

export function isShown({ until }: Pick<Announcement, 'until'>, now: Date): boolean {
  return !until || now < until;
}

/** @throws {InvalidDocumentError} when the text, the level or the end is invalid */
export async function setAnnouncement(
  deps: ModerationDeps,
  input: { text: string; level: string; until: Date | null },
  by: string,
): Promise<Announcement> {
  const given = parseInput(announcementInput, input);
  const at = deps.clock.now();
  if (!isShown(given, at)) throw new InvalidDocumentError({ until: 'The end must be in the future.' });
  await deps.announcements.updateOne({ _id: CURRENT }, { $set: { ...given, at } }, { upsert: true });
  const { text, level, until } = given;
  const details = { level, until: until?.toISOString() ?? null, text };
  await recordAudit(deps, { by, action: 'announcement.set', serverId: null, details });
  return { _id: CURRENT, ...given, at };
}

/** Returns false when there was none. */
export async function clearAnnouncement(deps: ModerationDeps, by: string): Promise<boolean> {
  const { deletedCount } = await deps.announcements.deleteOne({ _id: CURRENT });
  if (deletedCount === 0) return false;
  await recordAudit(deps, { by, action: 'announcement.clear', serverId: null, details: {} });
  return true;
}
