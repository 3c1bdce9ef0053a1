import { defineMessage, filled } from '../../language/t.ts';
import { LONGEST_USUAL_NAME } from '../delivery-limits.ts';
import { explanation } from '../explanation.ts';
import { OTHER_SERVICES } from './other-services.ts';
import type { OutcomeDefinition } from './outcome-definition.ts';

export const VOTIFIER_OUTCOMES = {
  'sent-not-confirmed': {
    class: 'delivered',
    // A close without an answer does not show whether the key is right.
    step: 'key-or-token',
    text: explanation(
      'The vote was sent, and the listener closed the connection without an error; many Votifier v1 listeners say no more than that, even when the key is wrong, a plugin that takes votes fails, or a proxy puts a PROXY header before the vote.',
      'If votes do not arrive in the game, compare the public key with the plugin’s own (restart the game server if it is the same), look for an error in the game server’s log, see that the plugin takes v1 and that no proxy sends the PROXY protocol, or change to Votifier v2, which can confirm.',
    ),
    textFor: {
      longName: explanation(
        filled(
          defineMessage(
            'The vote was sent, and nothing confirms it; its name has over {most} characters, to which some listeners cut it (VotifierPlus, Votifier 1.9).',
          ),
          { most: LONGEST_USUAL_NAME },
        ),
        'If the player gets no reward, let them vote with the name that they have in the game.',
      ),
      fetch: explanation(
        'The program that fetches the votes handed this one to a plugin that confirms nothing, such as Votifier v1.',
        'If votes do not arrive in the game, compare the public key that it uses with the plugin’s own, and look for an error in the game server’s log.',
      ),
    },
  },
  'unknown-error': {
    class: 'transient',
    fault: 'listener-error',
    text: explanation(
      'The listener answered with an error of its own.',
      'Look for the listener’s words in the game server’s log: mostly the vote plugin, or one that takes its votes, has failed.',
    ),
  },
  'challenge-refused': {
    class: 'transient',
    fault: 'challenge-refused',
    step: 'acknowledgement',
    text: explanation(
      'The listener did not accept the answer to its own challenge.',
      'Check that no proxy mixes up the connections to the vote port; update the vote plugin if the error continues.',
    ),
  },
  'bad-signature': {
    class: 'configuration',
    fault: 'bad-signature',
    step: 'key-or-token',
    text: explanation(
      'The listener refused the signature: its token for our service name is different, or it has none for it.',
      'Copy the token for our service name, or for “default” if it has none of its own, from the vote plugin’s configuration once more and set the listener again with it; add one if there is neither, and after any change there, also an earlier one, restart the game server or reload the plugin.',
    ),
    textWithName: (service) => ({
      cause: filled(
        defineMessage(
          'The listener refused the signature: its token for our service name “{service}” is different, or it has none for it.',
        ),
        { service },
      ),
      advice: filled(
        defineMessage(
          'Copy the token for our service name “{service}”, or for “default” if it has none of its own, from the vote plugin’s configuration once more and set the listener again with it; add one if there is neither, and after any change there, also an earlier one, restart the game server or reload the plugin.',
        ),
        { service },
      ),
    }),
  },
  'unknown-service': {
    class: 'configuration',
    fault: 'unknown-service',
    step: 'key-or-token',
    text: explanation(
      'The listener has no token for our service name.',
      'Add a token for our service name, or one for “default”, to the vote plugin’s configuration, restart the game server or reload the plugin, and set the token here.',
    ),
    textWithName: (service) => ({
      cause: filled(defineMessage('The listener has no token for our service name “{service}”.'), {
        service,
      }),
      advice: filled(
        defineMessage(
          'Add a token for our service name “{service}”, or one for “default”, to the vote plugin’s configuration, restart the game server or reload the plugin, and set the token here.',
        ),
        { service },
      ),
    }),
  },
  'key-invalid': {
    class: 'configuration',
    fault: 'key-invalid',
    step: 'key-or-token',
    text: explanation(
      'The listener could not decrypt the vote: its key is different.',
      'Copy the public key from the vote plugin’s folder once more (rsa/public.key) and set the listener again with it; if it is the same already, restart the game server or reload the plugin, which may still use an earlier one.',
    ),
  },
  'not-votifier': {
    class: 'configuration',
    fault: 'other-protocol',
    step: 'greeting',
    hasNotGreeted: true,
    text: OTHER_SERVICES['other-protocol'],
  },
  'v1-only': {
    class: 'configuration',
    fault: 'v1-only',
    step: 'protocol-version',
    text: explanation(
      'The listener speaks Votifier v1 only, and a v2 token is set.',
      'Set the listener as Votifier v1 with its public key, or install NuVotifier, which speaks v2.',
    ),
  },
  'v2-only': {
    class: 'configuration',
    fault: 'v2-only',
    step: 'protocol-version',
    text: explanation(
      'The listener takes Votifier v2 only, and a v1 public key is set.',
      'Set the listener as Votifier v2 with the token in the plugin’s configuration.',
    ),
  },
  'name-too-long': {
    class: 'vote-only',
    fault: 'name-too-long',
    step: 'acknowledgement',
    text: explanation(
      'The listener takes no player name of this length.',
      'Other votes are not affected: this player’s name does not fit the game; if it is a test vote, update the vote plugin.',
    ),
  },
  'frame-too-long': {
    class: 'vote-only',
    fault: 'name-too-long',
    step: 'acknowledgement',
    text: explanation(
      'The vote does not fit into one message of this protocol.',
      'Choose a shorter service name, or Votifier v2, which takes longer messages than v1.',
    ),
  },
} as const satisfies Record<string, OutcomeDefinition>;
