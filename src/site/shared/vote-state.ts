import { isConfirmed } from '../../votes/sent-not-confirmed.ts';
import { stateName } from '../../votes/state-names.ts';
import type { DeliveryState, Vote } from '../../votes/vote.ts';
import type { Html } from './html.ts';
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
