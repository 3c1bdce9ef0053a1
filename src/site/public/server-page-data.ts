import type { ObjectId, WithId } from 'mongodb';
import { goalOf } from '../../goals/goal-progress.ts';
import { type HistoryRange, historyOf } from '../../history/history.ts';
import { serverInfo } from '../../history/server-info.ts';
import { uptimeDays } from '../../history/uptime-days.ts';
import { defineMessage, type Text } from '../../language/t.ts';
import { DAY } from '../../platform/clock.ts';
import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { similarServers } from '../../ranking/picked-servers.ts';
import { rankHistory } from '../../ranking/rank-snapshots.ts';
import { readAnswered } from '../../reviews/read-reviews.ts';
import { reviewersOf } from '../../reviews/reviewers.ts';
import type { Server } from '../../servers/server.ts';
import { readTags } from '../../servers/tag-list.ts';
import { topVotersOfMonth } from '../../votes/top-voters.ts';
import { votesByDay } from '../../votes/vote-figures.ts';
import { pageFrom, REVIEWS_A_PAGE } from '../shared/review-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import type { Reader } from './own-review-card.ts';
import type { VoteFormView } from './vote-form.ts';

export const RANGES = [
  ['48h', defineMessage('48 hours')],
  ['30d', defineMessage('30 days')],
  ['all', defineMessage('All time')],
] as const satisfies [HistoryRange, Text][];

const VOTE_DAYS = 30;
const RANK_DAYS = 60;
const NEWEST_REVIEWS = 3;
/** As many cards as fit on one line. */
const SIMILAR = 3;
/** How many names each of the two months has: three columns of three. */
const TOP_VOTERS = 9;

/** `reviews` is the page number of the reviews, from 1; 0 shows only the newest ones. */
export type Wanted = { range: HistoryRange; reviews: number };

/** Invalid values count as absent. */
export function wantedOf(query: unknown): Wanted {
  const { players, reviews } = query as { players?: unknown; reviews?: unknown };
  const [range] = RANGES.find(([range]) => range === players) ?? RANGES[0];
  return { range, reviews: pageFrom(reviews, 0) };
}

/** The path with the parameters that differ from the defaults. */
export function pathOf(server: Pick<Server, 'slug'>, { range, reviews }: Wanted): string {
  const query = new URLSearchParams();
  if (range !== RANGES[0][0]) query.set('players', range);
  if (reviews > 0) query.set('reviews', String(reviews));
  return publicPath(server, query.size > 0 ? `?${query}` : '');
}

/** Reads what the page shows to everybody. */
export async function readServer(deps: AppDeps, server: WithId<Server>, { range, reviews }: Wanted) {
  const [info, history, uptime, ranks, votes, found, topVoters, tags, similar, goal] = await Promise.all([
    serverInfo(deps, server),
    historyOf(deps, server._id, range),
    uptimeDays(deps, server._id),
    rankHistory(deps, server._id),
    votesByDay(deps, server._id, VOTE_DAYS),
    readAnswered(deps, server._id, {
      page: Math.max(reviews, 1),
      limit: reviews > 0 ? REVIEWS_A_PAGE : NEWEST_REVIEWS,
    }),
    readTopVoters(deps, server._id),
    readTags(deps),
    similarServers(deps, server, SIMILAR),
    goalOf(deps, server),
  ]);
  const reviewers = await reviewersOf(deps, server._id, found.reviews);
  const now = deps.clock.now();
  const read = { now, reviewers, info, history, uptime, votes, found, topVoters, tags, similar, goal };
  return { ...read, ranks: ranksByDay(ranks, now) };
}

export type Seen = Awaited<ReturnType<typeof readServer>>;

export type View = {
  server: WithId<Server>;
  seen: Seen;
  wanted: Wanted;
  /** Below the path of the page. */
  preview: string;
  reader: Reader | null;
  voting: Pick<VoteFormView, 'config' | 'account' | 'ownName' | 'provenId'>;
};

/** From the first recorded day of the last `RANK_DAYS` to yesterday; null for a day without a record. */
function ranksByDay(ranks: { day: string; rank: number }[], now: Date) {
  const yesterday = addDays(dayOf(now), -1);
  const since = addDays(yesterday, 1 - RANK_DAYS);
  const recent = ranks.filter(({ day }) => day >= since);
  const [first] = recent;
  if (!first) return [];
  const byDay = new Map(recent.map(({ day, rank }) => [day, rank]));
  const days = Math.round((Date.parse(yesterday) - Date.parse(first.day)) / DAY) + 1;
  return Array.from({ length: Math.max(days, 1) }, (_, i) => {
    const day = addDays(first.day, i);
    return { day, rank: byDay.get(day) ?? null };
  });
}

/** The top voters of the current and the previous month. */
async function readTopVoters(deps: AppDeps, serverId: ObjectId) {
  const month = deps.clock.now().toISOString().slice(0, 7);
  const [current, previous] = await Promise.all([
    topVotersOfMonth(deps, serverId, month, TOP_VOTERS),
    topVotersOfMonth(deps, serverId, addDays(`${month}-01`, -1).slice(0, 7), TOP_VOTERS),
  ]);
  return { current, previous };
}
