import { OFF_ADVICE, OFF_REASONS, OFF_TEXTS } from '../../events/discord/off-reasons.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { OUTCOMES } from '../../listeners/outcomes.ts';
import { type Html, html } from '../shared/html.ts';

type ReasonTexts = { why: Text; advice: Text };

/** The texts of these outcomes are about votes. */
const OF_EVENTS: Record<string, ReasonTexts> = {
  'no-answer': {
    why: defineMessage('It took the request and did not answer in time.'),
    advice: defineMessage(
      'Let the program answer with a status of 200 to 299 first, and do its work afterwards.',
    ),
  },
  'too-slow': {
    why: defineMessage('It answered too slowly.'),
    advice: defineMessage(
      'Let the program answer with a status of 200 to 299 first, and do its work afterwards.',
    ),
  },
  'http-unavailable': {
    why: defineMessage('It answered with an error of its own (HTTP 5xx or 408).'),
    advice: defineMessage('Look into the log of the program.'),
  },
  'http-limited': {
    why: defineMessage('It takes no more requests for now (HTTP 429, or 503 with Retry-After).'),
    advice: defineMessage('Raise the limit for this URL, or choose fewer kinds of events.'),
  },
  'http-forbidden': {
    why: defineMessage('It refuses the request (HTTP 401 or 403).'),
    advice: defineMessage(
      'Compare the secret there with the one shown here, create a new one if in doubt, and let no filter stop this URL.',
    ),
  },
  'vote-refused': {
    why: defineMessage('It refuses the event (HTTP 4xx).'),
    advice: defineMessage(
      'Let the program answer kinds that it does not know with a status of 200 to 299, or choose fewer kinds.',
    ),
  },
  'http-redirected': {
    why: defineMessage('The URL answers with a redirect, which events do not follow.'),
    advice: defineMessage('Enter the URL to which it leads.'),
  },
  'http-method-refused': {
    why: defineMessage('The URL takes no POST requests (HTTP 405 or 501).'),
    advice: defineMessage('Check the path of the URL, and that the program there takes POST requests.'),
  },
  'http-unverified': {
    why: defineMessage('It did not repeat the challenge, so it may not want events; none was posted.'),
    advice: defineMessage(
      'Let the program answer a message of the type subscription.challenge with its challenge, as the example on this page shows.',
    ),
  },
  'http-challenge-refused': {
    why: defineMessage('It refused the challenge; no event was posted.'),
    advice: defineMessage(
      'Let the program answer a message of the type subscription.challenge with its challenge, as the example on this page shows.',
    ),
  },
};

/** `reason`: a code of outcomes, perhaps with what the destination answered; of Discord, its status and answer. */
export function failureText(reason: string): Html {
  const [code = '', ...said] = reason.split(': ');
  const known = textsOf(code);
  if (!known) {
    const why = t('Discord did not take the message. Check the text for votes, and send a test event.');
    return html`${why} <code>${reason}</code>`;
  }
  const answer = said.join(': ');
  return html`${t(known.why)} ${t(known.advice)} ${answer ? html`<code>${answer}</code>` : ''}`;
}

function textsOf(code: string): ReasonTexts | undefined {
  const off = OFF_REASONS.find((reason) => reason === code);
  if (off) return { why: OFF_TEXTS[off], advice: OFF_ADVICE[off] };
  const known = Object.entries(OUTCOMES).find(([name]) => name === code)?.[1];
  const { cause: why, advice } = known?.textFor?.http ?? known?.text ?? {};
  return OF_EVENTS[code] ?? (why && advice ? { why, advice } : undefined);
}
