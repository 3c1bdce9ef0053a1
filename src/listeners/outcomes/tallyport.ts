import { defineMessage } from '../../language/t.ts';
import { explanation } from '../explanation.ts';
import type { OutcomeDefinition } from './outcome-definition.ts';

/** Whatever the listener is. */
export const TALLYPORT_OUTCOMES = {
  'lease-ran-out': {
    class: 'ambiguous',
    isOurs: true,
    text: explanation(
      'Tallyport lost the process that was sending this vote, so the vote may have arrived.',
      'There is nothing to do: the vote is retried automatically.',
    ),
    textFor: {
      fetch: explanation(
        'The vote was fetched, but the program that fetched it did not report in time what became of it, so the vote may have arrived.',
        'Look into the log of the program that fetches the votes, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.',
      ),
    },
  },
  'stopped-while-waiting': {
    class: 'ambiguous',
    isOurs: true,
    text: explanation(
      'Tallyport was stopped while it waited for the listener’s answer, so the vote may have arrived.',
      'There is nothing to do: the vote is retried automatically.',
    ),
    testAdvice: defineMessage('Send the test vote again.'),
  },
  'stopped-before-written': {
    class: 'none',
    text: explanation(
      'Tallyport was stopped before it sent the vote.',
      'There is nothing to do: the vote is retried automatically.',
    ),
    testAdvice: defineMessage('Send the test vote again.'),
  },
  'outgoing-limited': {
    class: 'none',
    step: 'connecting',
    text: explanation(
      'Tallyport opens only so many connections a minute to an address that has not acknowledged a vote yet, and for one account.',
      'There is nothing to do: the vote is sent automatically within a minute or two, and a listener that acknowledges is no longer limited.',
    ),
    testAdvice: defineMessage('Send the test vote again in a minute or two.'),
  },
  'our-fault': {
    class: 'none',
    isOurs: true,
    text: explanation(
      'Tallyport itself failed before it sent the vote.',
      'There is nothing to do for the owner: the vote is retried automatically, and the operator finds the error in the log.',
    ),
    testAdvice: defineMessage(
      'Send the test vote again; if that fails too, tell the operator of this listing.',
    ),
  },
} as const satisfies Record<string, OutcomeDefinition>;

export const OF_LATER_VERSION: OutcomeDefinition = {
  class: 'transient',
  text: explanation('A later version of Tallyport recorded this outcome.', 'There is nothing to do.'),
};
