import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { aggregateTouchedDays } from '../import-export/import.ts';
import { writeSamples } from '../import-export/import-samples.ts';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { insertAbsent } from '../platform/mongo.ts';
import { addDays, dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { storeRanks } from '../ranking/rank-snapshots.ts';
import { answerReview } from '../reviews/answer-review.ts';
import { moderateReview } from '../reviews/moderate-review.ts';
import type { Review } from '../reviews/review.ts';
import { writeReview } from '../reviews/write-review.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import { recountVotes } from '../votes/recount-votes.ts';
import { type ListedSample, samplesOf, seedOf, votesOn } from './sample-days.ts';
import { writeOutage } from './sample-deliveries.ts';
import { writeSampleGoal } from './sample-goals.ts';
import { writeSampleInbox } from './sample-inbox.ts';
import { chance, samplePlayer } from './sample-players.ts';
import samples from './sample-reviews.json' with { type: 'json' };
import { sampleVotes } from './sample-votes.ts';

/** The audit log entries that mark what is complete: a server's history, the inbox, and the ranks of past days. */
const PAST_MARK = 'sample.history';
const INBOX_MARK = 'sample.inbox';
const PLACES_MARK = 'sample.places';

const PLACES_DAYS = 30;

/** How many servers get their history in each step; a fifth does all others. Users look at the first server first. */
const AT_ONCE = [1, 4, 10, 25];

/**
 * Writes the made-up history of the sample servers, and then their ranks of past days. What an earlier demo has written
 * stays and is completed. `written` gets the servers of each step, and the number of all that are ready.
 */
export async function fillSamples(
  deps: AppDeps,
  listed: ListedSample[],
  { written, signal }: { written: (some: ListedSample[], ready: number) => void; signal: AbortSignal },
): Promise<void> {
  const { auditLog } = deps;
  const done = await auditLog.distinct('serverId', { action: PAST_MARK });
  const known = new Set(done.map(String));
  const isKnown = ({ serverId }: ListedSample) => known.has(serverId.toHexString());
  const [there, open] = [listed.filter(isKnown), listed.filter((one) => !isKnown(one))];
  if (there.length > 0) written(there, there.length);
  const finishing: Promise<void>[] = [];
  try {
    for (let start = 0, step = 0; start < open.length; step++) {
      signal.throwIfAborted();
      const some = open.slice(start, start + (AT_ONCE[step] ?? open.length));
      await writeSampleHistory(deps, some);
      for (const one of some) await writeSampleReviews(deps, one);
      const finished = finish(deps, some);
      // Handled below. Without a handler from now on, a rejection would end the process before the loop has ended.
      finished.catch(() => undefined);
      finishing.push(finished);
      start += some.length;
      written(some, there.length + start);
    }
  } finally {
    await Promise.allSettled(finishing);
  }
  await Promise.all(finishing);
  await onceMarked(deps, INBOX_MARK, () => writeSampleInbox(deps, listed));
  if (open.length > 0) await countFiguresAgain(deps);
  await onceMarked(deps, PLACES_MARK, () => storePlaces(deps));
}

/** Of the servers whose history was written first, earlier days may be counted already, and only today's is due. */
async function countFiguresAgain({ siteFigures, producer }: AppDeps): Promise<void> {
  await siteFigures.deleteMany({});
  await producer.add('count-figures', {});
}

async function onceMarked(deps: AppDeps, action: AuditAction, write: () => Promise<void>): Promise<void> {
  if (await deps.auditLog.findOne({ action })) return;
  await write();
  await recordAudit(deps, { by: 'demo', action, serverId: null, details: {} });
}

async function storePlaces(deps: AppDeps): Promise<void> {
  const today = dayOf(deps.clock.now());
  for (let ago = PLACES_DAYS; ago > 0; ago--) await storeRanks(deps, addDays(today, -ago), null);
}

async function finish(deps: AppDeps, some: ListedSample[]): Promise<void> {
  await countToday(deps, some);
  for (const { serverId, sample } of some)
    await recordAudit(deps, { by: 'demo', action: PAST_MARK, serverId, details: { name: sample.name } });
  await requestRanks(deps.producer);
}

const HISTORY_DAYS = 30;
const BATCH = 2_000;

/** The same time always gets the same sample, so the next run completes an interrupted one; of votes, nearly. */
export async function writeSampleHistory(deps: AppDeps, listed: ListedSample[]): Promise<void> {
  const now = deps.clock.now();
  const first = startOfDay(addDays(dayOf(now), -HISTORY_DAYS));
  // `recountVotes` counts the newest minutes by increments, which made-up votes do not have.
  const settled = after(now, -MINUTE);
  const touched: { serverId: ListedSample['serverId']; days: string[] }[] = [];
  for (const one of listed) {
    const { serverId, sample } = one;
    const listedAt = after(now, -sample.listedDays * DAY);
    await deps.servers.updateOne({ _id: serverId }, { $min: { listedAt } });
    const from = startOfDay(dayOf(listedAt > first ? listedAt : first));
    const days = daysFrom(from, now);
    touched.push({ serverId, days });
    for (const some of batches(samplesOf(one, from, now))) await writeSamples(deps, some);
    const casts = days.flatMap((day) => votesOn(sample, day)).filter(({ votedAt }) => votedAt <= settled);
    const [listener, token] = await Promise.all([
      deps.listeners.findOne({ serverId }),
      deps.apiTokens.findOne({ serverId, name: 'demo' }),
    ]);
    const votes = sampleVotes({ serverId, sample, listener, tokenId: token?._id ?? null, now }, casts);
    for (const some of batches(votes)) await insertAbsent(deps.votes, some);
    if (listener) await writeOutage(deps, listener, sample, votes);
  }
  for (const one of listed) await writeSampleGoal(deps, one, HISTORY_DAYS);
  await aggregateTouchedDays(deps, touched);
  for (const { serverId, days } of touched) await recountVotes(deps, serverId, days.slice(0, -1));
}

export async function countToday(deps: AppDeps, listed: ListedSample[]): Promise<void> {
  const today = dayOf(deps.clock.now());
  await Promise.all(listed.map(({ serverId }) => recountVotes(deps, serverId, [today])));
}

function daysFrom(from: Date, now: Date): string[] {
  const days: string[] = [];
  for (let day = dayOf(from); day <= dayOf(now); day = addDays(day, 1)) days.push(day);
  return days;
}

function batches<T>(all: T[]): T[][] {
  const count = Math.ceil(all.length / BATCH);
  return Array.from({ length: count }, (_, index) => all.slice(index * BATCH, (index + 1) * BATCH));
}

const { reviews, answers } = z
  .strictObject({
    reviews: z.array(z.strictObject({ rating: z.int().min(1).max(5), content: z.string().optional() })),
    answers: z.array(z.string()),
  })
  .parse(samples);

/** The newest review of some samples is pending, and some have the owner's answer. */
export async function writeSampleReviews(deps: AppDeps, { serverId, sample }: ListedSample): Promise<void> {
  const seed = seedOf(sample);
  const now = deps.clock.now();
  const age = Math.min(sample.listedDays, 300) * DAY;
  for (let number = 0; number < sample.activity.reviews; number++) {
    const { rating = 5, content } = reviews[(seed + number) % reviews.length] ?? {};
    const username = samplePlayer(seed, 3 * number);
    const at = after(now, -age * ((number + chance(seed + number)) / sample.activity.reviews));
    const then = { ...deps, clock: { now: () => at } };
    const reviewId = await reviewOf(then, { serverId, username, rating, ...(content ? { content } : {}) });
    const isPending = number === 0 && seed % 3 === 0;
    if (isPending) continue;
    await moderateReview(then, reviewId, 'approved', 'demo');
    const answer = rating < 4 || number % 4 === 1 ? answers[rating < 4 ? (rating % 2) + 1 : 0] : undefined;
    const later = { ...deps, clock: { now: () => after(at, 5 * HOUR) } };
    if (answer) await answerReview(later, { serverId, reviewId, answer }, 'demo');
  }
}

async function reviewOf(deps: AppDeps, review: Parameters<typeof writeReview>[1]): Promise<Review['_id']> {
  const { serverId, username } = review;
  const existing = await deps.reviews.findOne({ serverId, username });
  if (existing) return existing._id;
  const { reviewId } = await writeReview(deps, review);
  return new ObjectId(reviewId);
}
