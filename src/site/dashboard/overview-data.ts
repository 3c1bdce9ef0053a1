import type { WithId } from 'mongodb';
import { deliveriesByDay } from '../../delivery/figures/delivery-figures.ts';
import { goalOf } from '../../goals/goal-progress.ts';
import { hoursOfDay } from '../../history/history.ts';
import { serverInfo } from '../../history/server-info.ts';
import { uptimeDays } from '../../history/uptime-days.ts';
import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { ranksAfter } from '../../ranking/rank-snapshots.ts';
import { readAnswered } from '../../reviews/read-reviews.ts';
import { listTokens } from '../../servers/api-tokens.ts';
import type { Server } from '../../servers/server.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { pageOfVotes } from '../../votes/read-votes.ts';
import { votesByDay } from '../../votes/vote-figures.ts';
import { RANK_CHANGE_DAYS } from './server-cards.ts';
import { readTodos } from './server-todo.ts';

/** Four gates of five strokes. */
const NEWEST_VOTES = 20;
const NEWEST_REVIEWS = 2;

export type Overview = Awaited<ReturnType<typeof readOverview>>;

/** All that the overview shows of a server. */
export async function readOverview(deps: AppDeps, server: WithId<Server>) {
  const id = server._id;
  const now = deps.clock.now();
  const today = dayOf(now);
  const [todoOf, info, tokens, reviews, page, votes, deliveries, ranks, hours, hoursBefore, uptime, goal] =
    await Promise.all([
      readTodos(deps, [server]),
      serverInfo(deps, server),
      listTokens(deps, id),
      readAnswered(deps, id, { page: 1, limit: NEWEST_REVIEWS }),
      pageOfVotes(deps, id, { limit: NEWEST_VOTES }),
      votesByDay(deps, id, 2 * RANKING_DAYS),
      deliveriesByDay(deps, id, RANKING_DAYS),
      ranksAfter(deps, [id], addDays(today, -RANK_CHANGE_DAYS)),
      hoursOfDay(deps, id, today),
      hoursOfDay(deps, id, addDays(today, -7)),
      uptimeDays(deps, id),
      goalOf(deps, server),
    ]);
  return {
    now,
    today,
    todo: todoOf(id),
    info,
    tokens,
    reviews,
    newest: page.votes,
    votes: votes.slice(RANKING_DAYS),
    votesBefore: votes.slice(0, RANKING_DAYS),
    deliveries: deliveries.days,
    rankBefore: ranks.get(id.toHexString()),
    hours,
    hoursBefore,
    uptime,
    goal,
  };
}
