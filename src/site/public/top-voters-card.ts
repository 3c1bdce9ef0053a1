import type { ObjectId } from 'mongodb';
import { t } from '../../language/t.ts';
import { addDays } from '../../platform/periods/period-marks.ts';
import { type TopVoter, topVotersOfMonth } from '../../votes/top-voters.ts';
import { count } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { card } from '../shared/parts.ts';

/** How many voters are shown for a month. */
const SHOWN = 10;

/** The top voters of the current and the previous month. */
export type TopVoters = { current: TopVoter[]; previous: TopVoter[] };

/** Reads the lists of top voters, which are at most a minute old. */
export async function readTopVoters(
  deps: Parameters<typeof topVotersOfMonth>[0],
  serverId: ObjectId,
): Promise<TopVoters> {
  const month = deps.clock.now().toISOString().slice(0, 7);
  const [current, previous] = await Promise.all(
    [month, addDays(`${month}-01`, -1).slice(0, 7)].map((one) =>
      topVotersOfMonth(deps, serverId, one, SHOWN),
    ),
  );
  return { current: current ?? [], previous: previous ?? [] };
}

/** The card of top voters. Empty if nobody voted in either month. */
export function topVotersCard({ current, previous }: TopVoters): Content {
  if (current.length + previous.length === 0) return '';
  return card({
    id: 'top-voters',
    title: t('Top voters'),
    body: html`<div class="columns even">
      ${list(t('This month'), current)}
      ${list(t('Last month'), previous)}
    </div>`,
  });
}

function list(title: string, voters: TopVoter[]): Html {
  const rows = voters.map(
    ({ username, votes }) => html`<li><bdi>${username}</bdi> <span class="soft">${count(votes)}</span></li>`,
  );
  return html`<div><h3>${title}</h3>
    ${rows.length > 0 ? html`<ol class="voters">${rows}</ol>` : html`<p class="soft">${t('No votes.')}</p>`}
  </div>`;
}
