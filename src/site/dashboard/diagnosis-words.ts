import { html } from 'hono/html';
import type { Diagnosis } from '../../delivery/diagnosis/diagnose-listener.ts';
import type { DiagnosisStep } from '../../delivery/diagnosis/diagnosis-steps.ts';
import type { Protocol } from '../../listeners/listener.ts';
import type { Content, Html } from '../html.ts';
import { badge, facts, type Tone } from '../parts.ts';

/** Each step: its name, and what it looks at, in the order in which they are made. */
const STEPS: Record<DiagnosisStep, [name: string, what: string]> = {
  'name-resolution': ['Look up the host', 'Has its name an address?'],
  'address-policy': ['Check the address', 'Is it one on the public internet?'],
  connecting: ['Connect', 'Does something listen on the port?'],
  greeting: ['Greeting', 'Is it a vote listener that answers?'],
  'protocol-version': ['Protocol version', 'Does it speak the version that is set?'],
  'key-or-token': ['Key or token', 'Does it accept ours?'],
  acknowledgement: ['Acknowledgement', 'Does it take the test vote?'],
};

/** An HTTP listener has no version and no token to agree on before the vote. */
const HTTP_STEPS: Partial<Record<DiagnosisStep, [name: string, what: string]>> = {
  greeting: ['Encryption', 'With https://: is its certificate in order?'],
  'key-or-token': ['Secret', 'Does it accept our signature?'],
  acknowledgement: ['Answer', 'Does it take the test vote?'],
};

const ORDER = Object.keys(STEPS) as DiagnosisStep[];

function stepWords(step: DiagnosisStep, protocol: Protocol): [name: string, what: string] {
  return (protocol === 'http' ? HTTP_STEPS[step] : undefined) ?? STEPS[step];
}

/** A step that has just begun. */
export function beginning(step: DiagnosisStep, protocol: Protocol): Html {
  const [name, what] = stepWords(step, protocol);
  return html`<li><strong>${name}</strong> <span class="soft">${what}</span></li>`;
}

function said({ outcome, fault, reply, isReplyHidden }: Diagnosis): Content {
  if (reply) return html`«<bdi>${reply}</bdi>»`;
  if (isReplyHidden) return 'not shown, since it may not be yours: it has not acknowledged a vote yet';
  return outcome === 'delivered' || !fault ? null : 'nothing';
}

/** What came of a test: each step with its verdict, then the cause and the mend. */
export function verdict(diagnosis: Diagnosis, protocol: Protocol): Html {
  const { outcome, fault, cause, mend, reply, detail } = diagnosis;
  const arrived = outcome === 'delivered';
  const unconfirmed = outcome === 'sent-not-confirmed';
  const tone: Tone = unconfirmed ? 'attention' : arrived ? 'good' : 'bad';
  const head = unconfirmed
    ? 'The test vote was sent, and cannot be confirmed'
    : arrived
      ? 'The test vote arrived'
      : 'The test vote did not arrive';
  return html`<div class="verdict">
    <ol class="steps">${judged(diagnosis, protocol)}</ol>
    <div class="notice ${tone}" role="status">
      <p><strong>${head}</strong></p>
      <p>${cause}</p>
      ${mend && !arrived ? html`<p>${mend}</p>` : ''}
    </div>
    ${
      reply || fault
        ? facts([
            ['The listener said', said(diagnosis)],
            ['Found', detail],
            ['Fault, for a search', fault ? html`<code>${fault}</code>` : null],
          ])
        : ''
    }
  </div>`;
}

function judged({ outcome, fault, step: stopped }: Diagnosis, protocol: Protocol): Html[] {
  const steps = ORDER.filter((step) => {
    const asked = protocol !== 'http' || !['protocol-version', 'key-or-token'].includes(step);
    return asked || step === stopped;
  });
  const end = steps.indexOf(stopped);
  const unconfirmed = outcome === 'sent-not-confirmed';
  return steps.map((step, index) => {
    const [name, what] = stepWords(step, protocol);
    if (fault === null && outcome !== 'delivered' && !unconfirmed)
      return judgement('quiet', name, what, 'not known');
    if (fault !== null && index === end) return judgement('bad', name, what, 'here it fails');
    if (fault !== null && index > end) return judgement('quiet', name, what, 'not known');
    // After a bare close neither the key nor the vote itself is confirmed.
    const silent = unconfirmed && (step === 'key-or-token' || step === 'acknowledgement');
    return silent
      ? judgement('attention', name, what, 'cannot be confirmed')
      : judgement('good', name, what, 'in order');
  });
}

function judgement(tone: Tone, name: string, what: string, words: string): Html {
  return html`<li class="${tone}"><strong>${name}</strong> ${badge(tone, words)} <span class="soft">${what}</span></li>`;
}
