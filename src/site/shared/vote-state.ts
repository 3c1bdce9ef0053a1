import { isConfirmed } from '../../votes/sent-not-confirmed.ts';
import { stateName } from '../../votes/state-names.ts';
import type { DeliveryState, Vote } from '../../votes/vote.ts';
import type { Html } from './html.ts';
import { badge, type Tone } from './parts.ts';

const TONES: Record<DeliveryState, Tone> = {
  none: 'quiet',
  waiting: 'attention',
  sending: 'attention',
  delivered: 'good',
  unconfirmed: 'attention',
  failed: 'bad',
};

export function stateBadge({ delivery }: Pick<Vote, 'delivery'>): Html {
  const { state } = delivery;
  const confirmed = isConfirmed(delivery);
  return badge(confirmed === false ? 'quiet' : TONES[state], stateName(state, confirmed));
}
