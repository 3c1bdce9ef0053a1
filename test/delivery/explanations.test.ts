import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/delivery/diagnosis/diagnosis.ts';
import { explain } from '../../src/delivery/diagnosis/explain.ts';
import { listenerReason } from '../../src/delivery/diagnosis/listener-reason.ts';
import { waitingFor } from '../../src/delivery/waiting-for.ts';
import { t } from '../../src/language/t.ts';
import { REACHABLE } from '../../src/listeners/listener.ts';
import {
  GREETS_AS_V2,
  isSilent,
  OUTCOME_CODES,
  OUTCOMES,
  type OutcomeCode,
} from '../../src/listeners/outcomes.ts';
import type { Delivery } from '../../src/votes/vote.ts';
import { deliveryIn } from '../support/votes.ts';

const now = new Date('2026-11-21T14:00:00.000Z');
const later = new Date('2026-11-21T14:10:00.000Z');

describe('explanations', () => {
  it.each(
    OUTCOME_CODES,
  )('explain the cause and the advice of %s in one sentence each, in every case', (code) => {
    const { text, textFor = {}, textWithName } = OUTCOMES[code];
    const named = textWithName ? [textWithName('Tallyport')] : [];
    for (const { cause, advice } of [text, ...Object.values(textFor), ...named]) {
      for (const sentence of [t(cause), t(advice)]) {
        expect(sentence).toMatch(/^[A-Z][^\n]*[^.]\.$/);
        expect(sentence).not.toMatch(/\. [A-Z]/);
      }
    }
  });

  it('of a code that only a later version knows say so, and are no fault', () => {
    const code = 'of-a-later-version' as OutcomeCode;
    expect(t(explain(code, 'votifier-v2').cause)).toBe('A later version of Tallyport recorded this outcome.');
    expect(isSilent({ code })).toBe(false);
    const isWritten = false;
    expect(faultOf(code, 'votifier-v2', { isWritten, isSlow: false }).fault).toBeNull();
  });

  it('say after an acknowledgement of a name that listeners cut where the reward may be', () => {
    const long = explain('acknowledged', 'votifier-v2', { username: 'SeventeenLetters1' });
    expect(t(long.cause)).toMatch(/over 16 characters, to which some listeners cut it \(VotifierPlus/);
    const short = explain('acknowledged', 'votifier-v2', { username: 'SixteenLetters16' });
    expect(t(short.advice)).toMatch(/^There is nothing to do; .* server behind the proxy/);
    const unsaid = explain('sent-not-confirmed', 'votifier-v1', { username: 'SeventeenLetters1' });
    expect(t(unsaid.cause)).toMatch(/nothing confirms it; its name has over 16 characters/);
    expect(explain('acknowledged', 'fetch', { username: 'SeventeenLetters1' })).toEqual(long);
    expect(t(explain('acknowledged', 'http', { username: 'SeventeenLetters1' }).advice)).toBe(
      'There is nothing to do.',
    );
  });

  it('say of what took votes before, or greets as v2, that it is slow, and not that its settings are wrong', () => {
    const detail = GREETS_AS_V2;
    expect(t(explain('never-acknowledged', 'votifier-v1', { detail }).cause)).toMatch(/is slow or hangs/);
    expect(t(explain('connect-timeout', 'http', { hasTaken: true }).cause)).toMatch(/the website hangs/);
    expect(t(explain('connection-refused', 'http', { hasTaken: true }).cause)).toMatch(/listens any more/);
  });

  it.each([
    // Besides a wrong token, other causes end a vote without an answer. The advice begins with the plugin's log.
    [
      'closed-without-answer',
      'votifier-v2',
      /wrong token or without one .*, when a plugin .* fails, at a limit .* filter/,
      /^Look for an error in the game server’s log first/,
    ],
    [
      'never-acknowledged',
      'votifier-v2',
      /hangs or fails, at a limit, filter or proxy, and with a wrong token or none/,
      /^Look for an error in the game server’s log first/,
    ],
    [
      'never-acknowledged',
      'votifier-v1',
      /wrong public key, when a plugin .* hangs or fails/,
      /^Compare the public key .* log, and resume/,
    ],
    [
      'sent-not-confirmed',
      'votifier-v1',
      /key is wrong, a plugin that takes votes fails, or a proxy/,
      /public key .* log, .* v1/,
    ],
    [
      'no-answer',
      'votifier-v1',
      /cannot decrypt a vote or when a plugin .* hangs/,
      /^Compare the public key/,
    ],
    [
      'silent',
      'votifier-v2',
      /another service, the vote plugin hangs, or a filter/,
      /port .* plugin hangs, .* filter/,
    ],
    [
      'bad-signature',
      'votifier-v2',
      /token for our service name/,
      /token for our service name, or for “default”/,
    ],
    [
      'connection-refused',
      'votifier-v2',
      /nothing listens at this address and port, or a firewall rejects/,
      /does not say “not able to bind”, .* at 0\.0\.0\.0 .* no firewall rejects/,
    ],
    [
      'connection-refused',
      'http',
      /nothing listens on the port in the URL, or a firewall rejects/,
      /no firewall rejects/,
    ],
    ['refused-over-ipv6', 'votifier-v2', /over IPv6/, /listens over IPv6 too/],
    ['http-limited', 'http', /takes no more requests for now \(HTTP 429, or 503/, /^Raise the limit/],
    ['http-upgraded', 'http', /\(HTTP 101\)/, /not to a WebSocket/],
    ['http-headers-too-long', 'http', /longer than 16 KiB/, /shorter headers/],
    // The owner may not be allowed to see a website's answer.
    ['vote-refused', 'http', /though it has taken others/, /^Look into the website’s log/],
    ['certificate-other-name', 'http', /for another name/, /name in the certificate/],
    ['certificate-expired', 'http', /has expired/, /^Renew/],
    ['certificate-not-yet-valid', 'http', /not valid yet/, /^Wait until its first day/],
    ['certificate-self-signed', 'http', /self-signed/, /public authority/],
    ['certificate-incomplete', 'http', /chain .* is incomplete/, /intermediate certificates too/],
    ['tls-too-old', 'http', /TLS 1\.1 or older/, /^Enable TLS 1\.2 or 1\.3/],
  ] as const)('name every cause of %s with %s', (code, protocol, cause, advice) => {
    const explained = explain(code, protocol);
    expect(t(explained.cause)).toMatch(cause);
    expect(t(explained.advice)).toMatch(advice);
  });

  it.each([
    'silent',
    'connection-refused',
  ] as const)('do not question the port of a listener that has taken a vote: %s', (code) => {
    const breaker = { failures: 3, tests: 0, openSince: now, nextTestAt: later, code } as const;
    for (const protocol of ['votifier-v1', 'votifier-v2'] as const) {
      const told = listenerReason({ breaker, protocol, acknowledgedAt: now });
      expect(t(told?.advice ?? explain(code, protocol).advice)).not.toMatch(/8192|not the game’s/);
      expect(
        t(
          listenerReason({ breaker, protocol })?.advice ?? explain(code, protocol, { hasTaken: true }).advice,
        ),
      ).toMatch(/not the game’s/);
    }
  });

  it('are absent for an active listener, whatever failed before', () => {
    expect(listenerReason({ pause: null, breaker: REACHABLE })).toBeNull();
    expect(listenerReason({ breaker: { failures: 2, tests: 0, code: 'silent' } })).toBeNull();
  });

  it('name a pause rather than the breaker', () => {
    const breaker = { failures: 3, tests: 0, openSince: now, nextTestAt: later, code: 'silent' } as const;

    expect(listenerReason({ breaker })).toEqual({ code: 'silent', ...OUTCOMES.silent.text, since: now });
    expect(listenerReason({ breaker, pause: { at: later, by: 'owner' } })).toEqual({
      cause: 'Its owner paused it.',
      advice: expect.any(String),
      since: later,
    });
    expect(
      listenerReason({
        breaker,
        pause: { at: later, by: 'tallyport', code: 'v1-only', words: 'VOTIFIER 1.9' },
      }),
    ).toEqual({ code: 'v1-only', ...OUTCOMES['v1-only'].text, words: 'VOTIFIER 1.9', since: later });
  });
});

describe('what a vote waits for', () => {
  const delivery = (state: Delivery['state'], nextAt?: Date) => ({
    delivery: deliveryIn(state, nextAt ? { nextAt } : {}),
  });
  const active = { pause: null, breaker: REACHABLE };
  const unreachable = { breaker: { failures: 3, tests: 0, openSince: now, nextTestAt: later } };

  it('is nothing if it does not wait', () => {
    for (const state of ['none', 'sending', 'delivered', 'unconfirmed', 'failed'] as const) {
      expect(waitingFor(delivery(state), active, now)).toBeNull();
    }
  });

  it('is the votes before it, its own retry, a test of the listener or a resume', () => {
    expect(waitingFor(delivery('waiting', now), active, now)).toEqual({ kind: 'turn' });
    expect(waitingFor(delivery('waiting', later), active, now)).toEqual({ kind: 'own-retry', at: later });
    expect(waitingFor(delivery('waiting', now), unreachable, now)).toEqual({
      kind: 'listener-test',
      at: later,
    });
    expect(
      waitingFor(delivery('waiting', now), { ...unreachable, pause: { at: now, by: 'owner' } }, now),
    ).toEqual({
      kind: 'resume',
    });
    expect(waitingFor(delivery('waiting'), active, now)).toEqual({ kind: 'turn' });
    expect(waitingFor(delivery('waiting', later), null, now)).toEqual({ kind: 'no-listener' });
  });
});
