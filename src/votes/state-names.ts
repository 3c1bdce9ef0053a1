import { defineMessage, type Text, t } from '../language/t.ts';
import { isConfirmed, type VoteSelection } from './sent-not-confirmed.ts';
import type { Delivery } from './vote.ts';

export const STATE_NAMES: Record<VoteSelection, Text> = {
  none: defineMessage('not forwarded'),
  waiting: defineMessage('waiting'),
  sending: defineMessage('being sent'),
  delivered: defineMessage('delivered'),
  unconfirmed: defineMessage('unconfirmed'),
  failed: defineMessage('failed'),
  'sent-not-confirmed': defineMessage('sent, not confirmed'),
};

export function stateName(state: Delivery['state'], confirmed: boolean | null): string {
  return t(STATE_NAMES[confirmed === false ? 'sent-not-confirmed' : state]);
}

export function stateNameOf(delivery: Delivery): string {
  return stateName(delivery.state, isConfirmed(delivery));
}
