import { z } from 'zod';
import { t } from '../../language/t.ts';
import { after, DAY } from '../../platform/clock.ts';
import type { VotesWanted } from '../../votes/read-votes.ts';
import { VOTE_SELECTIONS } from '../../votes/sent-not-confirmed.ts';
import { STATE_NAMES } from '../../votes/state-names.ts';
import { usernameSchema } from '../../votes/username.ts';
import { type Html, html } from '../shared/html.ts';
import { select, textField } from '../shared/parts.ts';
import { votesCursor } from '../shared/votes-cursor.ts';

/** A UTC day from a date field: `2026-11-21`. */
const utcDay = z.iso
  .date()
  .refine((text) => text >= '2000' && text < '2200')
  .optional()
  .catch(undefined);

/** The query of the votes page. Invalid values count as absent. */
export const voteQuery = z.object({
  state: z.enum(VOTE_SELECTIONS).optional().catch(undefined),
  player: usernameSchema.optional().catch(undefined),
  since: utcDay,
  until: utcDay,
  from: votesCursor,
});

export type VoteFilter = Omit<z.output<typeof voteQuery>, 'from'>;

/** The filter as a selection of votes. The votes of both days, `since` and `until`, are included. */
export function wantedBy({ state, player, since, until }: VoteFilter): VotesWanted {
  return {
    state,
    player,
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : after(new Date(until), DAY),
  };
}

export function isFiltered({ state, player, since, until }: VoteFilter): boolean {
  return [state, player, since, until].some((value) => value !== undefined);
}

export function filterText(
  { state, player, since, until }: VoteFilter,
  more: Record<string, string> = {},
): string {
  const given = Object.entries({ state, player, since, until, ...more }).filter(
    ([, value]) => value !== undefined,
  );
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text ? `?${text}` : '';
}

export function voteFilterForm(path: string, filter: VoteFilter): Html {
  const { state, player = '', since = '', until = '' } = filter;
  return html`<form method="get" action="${path}" class="filters" role="search" aria-label="${t('Votes')}">
    ${select({
      name: 'state',
      label: t('State'),
      value: state,
      options: [
        ['', t('all')],
        ...VOTE_SELECTIONS.map((one): [string, string] => [one, t(STATE_NAMES[one])]),
      ],
    })}
    ${textField({
      name: 'player',
      label: t('Player'),
      value: player,
      maxlength: 50,
      autocomplete: 'off',
      spellcheck: false,
    })}
    ${textField({ name: 'since', label: t('From (UTC day)'), type: 'date', value: since })}
    ${textField({ name: 'until', label: t('To'), type: 'date', value: until })}
    <div class="actions">
      <button type="submit" class="quiet">${t('Show')}</button>
      ${isFiltered(filter) ? html`<a href="${path}">${t('Show all')}</a>` : ''}
    </div>
  </form>`;
}
