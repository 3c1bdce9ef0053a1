import { ObjectId } from 'mongodb';
import { successRates } from '../../delivery/figures/delivery-figures.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readListPage } from '../../ranking/read-lists.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';

const MOST = 10;

export type TopServer = Awaited<ReturnType<typeof readTopServers>>['servers'][number];

/** The first servers of the ranking, by votes, and how many servers it has. */
export async function readTopServers(deps: AppDeps) {
  const list = await readListPage(deps, {}, 1);
  const first = (list?.rows ?? []).slice(0, MOST).toSorted((a, b) => b.votesCount - a.votesCount);
  const ids = first.map(({ id }) => ObjectId.createFromHexString(id));
  const rates = await successRates(deps, ids, RANKING_DAYS);
  const servers = first.map(({ id, name, game, icon, banner, votesCount }) => ({
    id,
    name,
    game,
    icon,
    banner,
    votesCount,
    successRate: rates.get(id) ?? null,
  }));
  return { total: list?.total ?? 0, servers };
}
