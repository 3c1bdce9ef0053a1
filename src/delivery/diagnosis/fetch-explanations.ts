import { defineMessage } from '../../language/t.ts';
import type { Explanation } from './explanation.ts';
import type { ProtocolTexts } from './explanations-by-protocol.ts';

/** The outcomes that only a listener that fetches can have: what each means, and how to correct it. */
export const FETCH_EXPLANATIONS = {
  'fetch-retry': {
    cause: defineMessage(
      'The program that fetches the votes could not hand this one over, and will fetch it again.',
    ),
    advice: defineMessage(
      'Read its reason and its log; it gets the vote again by the schedule, for 72 hours after it was cast.',
    ),
  },
  'not-fetched': {
    cause: defineMessage('No program fetched votes while the test waited.'),
    advice: defineMessage(
      'Start the relay or the plugin that fetches the votes, check that it has the address and a valid delivery token from “Connect”, and look into its log.',
    ),
  },
  'fetch-unknown': {
    cause: defineMessage(
      'The program that fetches the votes does not know whether it handed this one over, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Look into its log, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.',
    ),
  },
  'fetch-failed': {
    cause: defineMessage('The program that fetches the votes refused this one for good.'),
    advice: defineMessage('Read its reason, correct what it names, and send the vote again.'),
  },
} as const satisfies Record<string, Explanation>;

/** A listener that fetches: a relay or a plugin takes the votes and says what became of them. */
export const FETCH_TEXTS: ProtocolTexts = {
  acknowledged: {
    cause: defineMessage(
      'The program that fetches the votes handed this one over, and the game server confirmed it.',
    ),
    advice: defineMessage('There is nothing to do.'),
  },
  'sent-not-confirmed': {
    cause: defineMessage(
      'The program that fetches the votes handed this one to a plugin that confirms nothing, such as Votifier v1.',
    ),
    advice: defineMessage(
      'If votes do not arrive in the game, compare the public key that it uses with the plugin’s own, and look for an error in the game server’s log.',
    ),
  },
  'lease-ran-out': {
    cause: defineMessage(
      'The vote was fetched, but the program that fetched it did not report in time what became of it, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Look into the log of the program that fetches the votes, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.',
    ),
  },
};
