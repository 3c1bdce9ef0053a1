import { defineMessage, filled } from '../../language/t.ts';
import { LONGEST_USUAL_NAME } from '../delivery-limits.ts';
import { explanation } from '../explanation.ts';
import type { OutcomeDefinition } from './outcome-definition.ts';

/** Of every listener that Tallyport connects to. */
export const ANSWER_OUTCOMES = {
  acknowledged: {
    class: 'delivered',
    text: explanation(
      'The listener took the vote and said so.',
      'There is nothing to do; if the game does not show the vote, look at the plugin that takes it, or at the server behind the proxy.',
    ),
    textFor: {
      longName: explanation(
        filled(
          defineMessage(
            'The listener took the vote and said so, but its name has over {most} characters, to which some listeners cut it (VotifierPlus, Votifier 1.9).',
          ),
          { most: LONGEST_USUAL_NAME },
        ),
        'If the player gets no reward, let them vote with the name that they have in the game.',
      ),
      http: explanation('The listener took the vote and said so.', 'There is nothing to do.'),
      fetch: explanation(
        'The program that fetches the votes handed this one over, and the game server confirmed it.',
        'There is nothing to do; if the game does not show the vote, look at the plugin that takes it, or at the server behind the proxy.',
      ),
    },
  },
  silent: {
    class: 'transient',
    fault: 'silent',
    step: 'greeting',
    hasNotGreeted: true,
    text: explanation(
      'Something took the connection and then said nothing, though a Votifier listener speaks first: it is another service, the vote plugin hangs, or a filter holds the connection back.',
      'Check that the port is the vote plugin’s, not the game’s, look in the game server’s log whether the plugin hangs, and let no proxy or DDoS filter be in front of it.',
    ),
    textFor: {
      provenVotifier: explanation(
        'The listener took the connection and then said nothing, though it has taken votes before: the vote plugin hangs, or a filter holds the connection back.',
        'Look in the game server’s log whether the vote plugin hangs, check the server’s load, and let no proxy or DDoS filter hold connections back.',
      ),
      http: explanation(
        'The website took the connection and did not finish the TLS handshake in time.',
        'Check that the port in the URL speaks https, and the load of the website.',
      ),
    },
  },
  'closed-before-greeting': {
    class: 'transient',
    fault: 'closed-without-answer',
    hasNotGreeted: true,
    text: explanation(
      'The connection was closed before the listener greeted: mostly it is the port of a container or tunnel with nothing behind it, or a filter or limit ends it.',
      'Check that the game server runs with its vote plugin, that the container or tunnel leads to the plugin’s port, and that no proxy, DDoS filter or address limit ends connections to it.',
    ),
    textFor: {
      http: explanation(
        'The connection was closed before the vote was sent, in the TLS handshake or before it.',
        'Check that the port in the URL speaks https, and that no filter before the website ends the connection.',
      ),
    },
  },
  'closed-before-written': {
    class: 'transient',
    fault: 'closed-without-answer',
    text: explanation(
      'The listener greeted and then closed the connection before the vote was sent.',
      'Look for an error of the vote plugin in the game server’s log.',
    ),
    textFor: {
      http: explanation(
        'The website closed the connection before the vote was sent.',
        'Look into the website’s log, and check that no filter or address limit before it ends the connection.',
      ),
    },
  },
  'too-slow': {
    class: 'transient',
    fault: 'too-slow',
    text: explanation(
      'The listener’s greeting began, but did not end in time.',
      'Check the load of the game server and of its network.',
    ),
    textFor: {
      http: explanation(
        'The website took the challenge and did not answer it in time; no vote was posted.',
        'Let the website answer a challenge at once, and check its load.',
      ),
    },
  },
  'closed-without-answer': {
    class: 'ambiguous',
    fault: 'closed-without-answer',
    isSilent: true,
    text: explanation(
      'The vote was sent, and the listener closed the connection without an answer, as some listeners do on a wrong token or without one for our service name, when a plugin that takes votes fails, at a limit of the plugin or of a filter, or behind a proxy that puts a PROXY header before the vote; it may have arrived all the same.',
      'Look for an error in the game server’s log first; if there is none, set the listener again with the token for our service name or “default”, add one if there is neither, and restart the game server; then check limits, filters, another vote plugin on the port, and the PROXY protocol.',
    ),
    textFor: {
      v1: explanation(
        'The vote was sent, and the listener, which confirmed votes before, closed the connection without an answer, as when its key has changed or a plugin failed; it may have arrived all the same.',
        'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error of a plugin that takes votes in the game server’s log, and resume the listener if it is paused.',
      ),
      http: explanation(
        'The vote was posted, and the website closed the connection without an answer, so the vote may have arrived.',
        'Look for an error in the log of the website or application that takes the votes.',
      ),
    },
  },
  reset: {
    class: 'ambiguous',
    fault: 'closed-without-answer',
    isSilent: true,
    text: explanation(
      'The vote was sent, and the connection broke before an answer came, so the vote may have arrived.',
      'Check that the game server did not stop at that moment and that no proxy or filter cuts connections to the vote port.',
    ),
    textFor: {
      http: explanation(
        'The vote was posted, and the connection broke before an answer came, so the vote may have arrived.',
        'Check that the website did not stop at that moment, and that no proxy before it cuts connections.',
      ),
    },
  },
  'no-answer': {
    class: 'ambiguous',
    fault: 'too-slow',
    isSilent: true,
    text: explanation(
      'The vote was sent, and no answer came in time, as when a plugin that takes votes hangs or is slow, or a filter drops the vote or the answer, so the vote may have arrived.',
      'Look in the game server’s log for an error of the vote plugin, or for a plugin that takes its votes and hangs or is slow, check the server’s load, and let no filter hold back what is sent or answered.',
    ),
    textFor: {
      v1: explanation(
        'The vote was sent, and the listener kept the connection open without an answer, as some listeners do when they cannot decrypt a vote or when a plugin that takes votes hangs; it may have arrived all the same.',
        'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is the same already, restart the game server or reload the plugin, which may still use an earlier one, and look for an error of the vote plugin in its log.',
      ),
      slowV1: explanation(
        'The vote was sent, and the listener kept the connection open without an answer: a plugin that takes votes is slow or hangs, the server is overloaded, a filter drops the vote or the answer, or its key has changed; it may have arrived all the same.',
        'Look in the game server’s log for a plugin that takes votes and is slow or hangs, and check the server’s load and the filters before it; if there is nothing, compare the public key with the plugin’s own (rsa/public.key).',
      ),
      http: explanation(
        'The vote was posted, and no answer came in time, so the vote may have arrived.',
        'Let the website answer before it does what a vote causes, and check its load.',
      ),
    },
  },
  'garbage-answer': {
    class: 'ambiguous',
    fault: 'garbage-answer',
    step: 'acknowledgement',
    text: explanation(
      'The vote was sent, and the answer is not a Votifier answer, so the vote may have arrived.',
      'Check that the port is the vote plugin’s and that no proxy answers in its place; then update the vote plugin.',
    ),
    textFor: {
      http: explanation(
        'The vote was posted, and what came back is not an HTTP answer, so the vote may have arrived.',
        'Check that the port in the URL is the website’s, and that no proxy answers in its place.',
      ),
    },
  },
  'vote-refused': {
    class: 'vote-only',
    mayBeOfOneVote: true,
    fault: 'vote-refused',
    step: 'acknowledgement',
    text: explanation(
      'The listener refused this vote, though it takes others.',
      'Read the listener’s message, correct what it names, and resend the vote.',
    ),
    textFor: {
      http: explanation(
        'The website refused this vote, though it has taken others.',
        'Look into the website’s log for the reason of its status, correct it, and resend the vote.',
      ),
    },
  },
  'repeated-vote-faults': {
    class: 'configuration',
    text: explanation(
      'The listener refused several votes in a row, one by one.',
      'Read the reason in the timelines of these votes, correct it, and resume the listener.',
    ),
  },
  'never-acknowledged': {
    class: 'configuration',
    text: explanation(
      'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens when a plugin that takes votes hangs or fails, at a limit, filter or proxy, and with a wrong token or none for our service name; other votes wait.',
      'Look for an error in the game server’s log first; if there is none, check the token for our service name or “default”, add one if there is neither, restart the game server, and resume the listener.',
    ),
    textFor: {
      v1: explanation(
        'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens with a wrong public key, when a plugin that takes votes hangs or fails, and at a filter; other votes wait.',
        'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error in the game server’s log, and resume the listener.',
      ),
      slowV1: explanation(
        'The listener has taken no vote with its current settings, and kept the connection of the last one open without an answer: a plugin that takes votes is slow or hangs, the server is overloaded, or a filter drops the vote or the answer; other votes wait.',
        'Look in the game server’s log for a plugin that takes votes and is slow or hangs, check the server’s load and the filters before it, and resume the listener; if there is nothing, compare the public key with the plugin’s own (rsa/public.key).',
      ),
      http: explanation(
        'The website has taken no vote with its current settings, and gave no answer to the last one; other votes wait.',
        'Look into the website’s log, compare the secret there with the listener’s, and resume the listener when that is corrected.',
      ),
    },
  },
} as const satisfies Record<string, OutcomeDefinition>;
