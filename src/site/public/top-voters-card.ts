import type { ObjectId } from 'mongodb';
import { plural } from '../../language/plural.ts';
import { t } from '../../language/t.ts';
import { addDays } from '../../platform/periods/period-marks.ts';
import { type TopVoter, topVotersOfMonth } from '../../votes/top-voters.ts';
import { count } from '../shared/format.ts';
import { face } from '../shared/generated-pictures.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { rankMark } from '../shared/server-parts.ts';

/** How many voters are shown for a month. */
const SHOWN = 10;

/** The top voters of the current and the previous month. */
export type TopVoters = { current: TopVoter[]; previous: TopVoter[] };

/** Reads the lists of top voters of a server. They are cached for up to a minute. */
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

/** The section of top voters. Empty if nobody voted in either month. */
export function topVotersCard({ current, previous }: TopVoters): Content {
  if (current.length + previous.length === 0) return '';
  return html`<section id="top-voters"><header><h2>${t('Top voters')}</h2></header>
    <div class="voter-lists">${list(t('This month'), current)}${list(t('Last month'), previous)}</div>
  </section>`;
}

function list(title: string, voters: TopVoter[]): Html {
  const rows = voters.map(
    ({ username, votes }, index) => html`<li>${rankMark(index + 1)}${face(username, 36)}<bdi>${username}</bdi>
      <span>${count(votes)}<span class="for-readers"> ${plural(votes, t('vote'), t('votes'))}</span></span></li>`,
  );
  return html`<div><h3>${title}</h3>
    ${rows.length > 0 ? html`<ol class="voters">${rows}</ol>` : html`<p class="soft">${t('No votes.')}</p>`}
  </div>`;
}
