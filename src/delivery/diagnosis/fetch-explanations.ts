import { defineMessage } from '../../language/t.ts';
import type { Explanation } from './explanation.ts';
import type { ProtocolTexts } from './explanations-by-protocol.ts';

/** What the outcomes that only listeners that fetch end with mean, and how to correct them. */
export const FETCH_EXPLANATIONS = {
  'fetch-retry': {
    cause: defineMessage('What fetches the votes could not hand this one over, and will take it again.'),
    advice: defineMessage(
      'Read its words and its log; the vote comes again by the schedule, for 72 hours after it was cast.',
    ),
  },
  'not-fetched': {
    cause: defineMessage('Nothing fetched votes while the test waited.'),
    advice: defineMessage(
      'Start the relay or the plugin that fetches, check that it has this address and a delivery token that is valid, and look into its log.',
    ),
  },
  'fetch-unknown': {
    cause: defineMessage(
      'What fetches the votes does not know whether it handed this one over, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Look into its log, and whether the game server stopped at that moment; the vote is handed out again as often as you allow.',
    ),
  },
  'fetch-failed': {
    cause: defineMessage('What fetches the votes refused this one for good.'),
    advice: defineMessage('Read its words, correct what it names, and resend the vote.'),
  },
} as const satisfies Record<string, Explanation>;

/** A listener that fetches: a relay or a plugin takes the votes and says what became of them. */
export const FETCH_TEXTS: ProtocolTexts = {
  acknowledged: {
    cause: defineMessage('What fetches the votes handed this one over, and the game server took it.'),
    advice: defineMessage('There is nothing to do.'),
  },
  'sent-not-confirmed': {
    cause: defineMessage(
      'What fetches the votes handed this one to a plugin that confirms nothing, such as Votifier v1.',
    ),
    advice: defineMessage(
      'If votes do not arrive in the game, compare the public key that it uses with the plugin’s own, and look for an error in the game server’s log.',
    ),
  },
  'lease-ran-out': {
    cause: defineMessage(
      'The vote was fetched, and nothing said in time what became of it, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Look into the log of what fetches the votes, and whether the game server stopped at that moment; the vote is handed out again as often as you allow.',
    ),
  },
};
