import type { WithId } from 'mongodb';
import { MOST_ALLOWED } from '../../ranking/evidence/allow-votes.ts';
import type { RankDay } from '../../ranking/evidence/rank-votes.ts';
import type { Server } from '../../servers/server.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { count, timeAgo } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { card } from '../shared/parts.ts';
import { rankVotesTables } from '../shared/rank-votes-tables.ts';
import { adminServerPath } from './admin-frame.ts';

export function rankVotesCard(view: {
  base: string;
  server: WithId<Server>;
  now: Date;
  typed: Typed;
  days: RankDay[];
}): Html {
  const { base, server, now, typed, days } = view;
  const allowed = server.voteAllowance;
  return card({
    title: 'Votes for the rank',
    id: 'rank',
    body: html`${allowed && allowed.votes > 0 ? allowanceText(allowed, now) : ''}
      ${rankVotesTables(days)}
      ${server.removedAt ? '' : allowForm(adminServerPath(base, server, '/allow-votes'), allowed?.votes ?? 0, typed)}`,
  });
}

function allowanceText({ votes, reason, by, at }: NonNullable<Server['voteAllowance']>, now: Date): Html {
  const who = html`<bdi>${by}</bdi>, ${timeAgo(at, now)}`;
  return html`<p>${count(votes)} votes a day need no evidence: “<bdi>${reason}</bdi>” (${who}).</p>`;
}

function allowForm(to: string, allowed: number, typed: Typed): Html {
  const fields = fieldsOf(typed);
  const { errors } = typed;
  return html`<details class="confirm" ${errors.votes || errors.allowReason ? 'open' : ''}>
    <summary class="button quiet">Allow votes…</summary>
    <div class="confirm-body">
      <p>
        So many votes a day count in full for the rank, whatever speaks for them; 0 takes it back. Many votes of one
        network still weigh less. The days of the ranking are weighed again. If the votes were bought, exclude them
        under “Votes and exclusions” instead.
      </p>
      <form method="post" action="${to}" class="stack">
        ${fields.text('votes', {
          label: 'Votes a day',
          type: 'number',
          min: 0,
          max: MOST_ALLOWED,
          required: true,
          value: String(allowed),
        })}
        ${fields.area('allowReason', {
          label: 'Internal reason',
          hint: 'For operators only, in the audit log.',
          rows: 2,
          maxlength: 500,
          required: true,
        })}
        <button type="submit">Allow</button>
      </form>
    </div>
  </details>`;
}
