import { defineMessage, filled } from '../../language/t.ts';
import { DELIVERY_EXPIRES_HOURS } from '../delivery-limits.ts';
import { explanation } from '../explanation.ts';
import type { OutcomeDefinition } from './outcome-definition.ts';

export const FETCH_OUTCOMES = {
  'fetch-retry': {
    class: 'transient',
    text: explanation(
      'The program that fetches the votes could not hand this one over, and will fetch it again.',
      filled(
        defineMessage(
          'Read its reason and its log; it gets the vote again by the schedule, for {hours} hours after it was cast.',
        ),
        { hours: DELIVERY_EXPIRES_HOURS },
      ),
    ),
  },
  'not-fetched': {
    class: 'transient',
    fault: 'not-fetched',
    step: 'acknowledgement',
    text: explanation(
      'No program fetched votes while the test waited.',
      'Start the relay or the plugin that fetches the votes, check that it has the address and a valid delivery token from “Connect”, and look into its log.',
    ),
  },
  'fetch-unknown': {
    class: 'ambiguous',
    text: explanation(
      'The program that fetches the votes does not know whether it handed this one over, so the vote may have arrived.',
      'Look into its log, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.',
    ),
  },
  'fetch-failed': {
    class: 'vote-only',
    text: explanation(
      'The program that fetches the votes refused this one for good.',
      'Read its reason, correct what it names, and send the vote again.',
    ),
  },
} as const satisfies Record<string, OutcomeDefinition>;
