import { t } from '../../language/t.ts';
import { isConfirmed } from '../../votes/sent-not-confirmed.ts';
import { stateName } from '../../votes/state-names.ts';
import type { DeliveryState, Vote } from '../../votes/vote.ts';
import { type Html, html } from './html.ts';
import { type Stroke, strokeWord } from './tally.ts';

const STROKES: Record<DeliveryState, Stroke> = {
  none: 'none',
  waiting: 'waiting',
  sending: 'waiting',
  delivered: 'arrived',
  unconfirmed: 'unconfirmed',
  failed: 'failed',
};

export function strokeOf(delivery: Vote['delivery']): Stroke {
  return isConfirmed(delivery) === false ? 'unconfirmed' : STROKES[delivery.state];
}

/** The state of a vote's delivery in a word, behind its stroke. */
export function stateBadge({ delivery }: Pick<Vote, 'delivery'>): Html {
  return strokeWord(strokeOf(delivery), stateName(delivery.state, isConfirmed(delivery)));
}

/** In a list of votes. A held vote is not forwarded either, which need not be said. */
export function stateInList(vote: Pick<Vote, 'delivery' | 'excludedAt' | 'quarantinedAt'>): Html {
  if (vote.quarantinedAt) return html`<span>${strokeWord('none', t('held, not counted'))}</span>`;
  const excluded = vote.excludedAt ? html` <span class="small soft">${t('not counted')}</span>` : '';
  return html`<span>${stateBadge(vote)}${excluded}</span>`;
}
