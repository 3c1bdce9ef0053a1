import { defineMessage, type Text } from '../../language/t.ts';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import type { Explanation } from './explanation.ts';

/** The diagnosis of a listener that fetches, when a program asked for votes. */
export const FETCHED = {
  cause: defineMessage('Votes were fetched while the test waited.'),
  advice: defineMessage('There is nothing to do.'),
} as const satisfies Explanation;

/** The advice where a vote is sent again by itself and a test vote is not. */
export function testAdvice(code: OutcomeCode): { advice?: Text } {
  switch (code) {
    case 'outgoing-limited':
      return { advice: defineMessage('Send the test vote again in a minute or two.') };
    case 'our-fault':
      return {
        advice: defineMessage(
          'Send the test vote again; if that fails too, tell the operator of this listing.',
        ),
      };
    case 'stopped-before-written':
    case 'stopped-while-waiting':
      return { advice: defineMessage('Send the test vote again.') };
    default:
      return {};
  }
}
