import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import type { WorkflowsDeps } from '../deps.ts';
import type { SiteFigures } from './site-figures.ts';

export type SiteDay = { day: string; figures: SiteFigures | null };

/**
 * UTC days, the oldest first and today included. Days before anything was listed, cast or signed up have no figures,
 * though they were counted when the listing began.
 */
export async function figuresByDay({ siteFigures, clock }: WorkflowsDeps, days: number): Promise<SiteDay[]> {
  const today = dayOf(clock.now());
  const first = addDays(today, 1 - days);
  const stored = await siteFigures.find({ day: { $gte: first, $lte: today } }).toArray();
  const byDay = new Map(stored.map((figures) => [figures.day, figures]));
  const begun = stored.filter(hasBegun).reduce((least, { day }) => (day < least ? day : least), today);
  return Array.from({ length: days }, (_, i) => {
    const day = addDays(first, i);
    return { day, figures: day < begun ? null : (byDay.get(day) ?? null) };
  });
}

function hasBegun({ servers, deliveries, signUps }: SiteFigures): boolean {
  return servers.listed + servers.removed + deliveries.page + deliveries.api + signUps > 0;
}
