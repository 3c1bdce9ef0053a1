import type { Diagnosis } from '../../delivery/diagnosis/diagnosis.ts';
import { withServiceName } from '../../delivery/diagnosis/explain.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { NOTHING_TO_DO } from '../../listeners/explanation.ts';
import type { Protocol } from '../../listeners/listener.ts';
import type { DiagnosisStep } from '../../listeners/outcomes/outcome-definition.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { badge, facts, type Tone } from '../shared/parts.ts';

type StepText = [name: Text, question: Text];

const STEPS: Record<DiagnosisStep, StepText> = {
  'name-resolution': [defineMessage('Look up the host'), defineMessage('Does the host name resolve?')],
  'address-policy': [
    defineMessage('Check the address'),
    defineMessage('Is the address on the public internet?'),
  ],
  connecting: [defineMessage('Connection'), defineMessage('Does the port accept connections?')],
  greeting: [defineMessage('Greeting'), defineMessage('Does a vote listener answer?')],
  'protocol-version': [
    defineMessage('Protocol version'),
    defineMessage('Does it speak the configured version?'),
  ],
  'key-or-token': [
    defineMessage('Key or token'),
    defineMessage('Does it accept the configured key or token?'),
  ],
  acknowledgement: [defineMessage('Acknowledgement'), defineMessage('Does it accept the test vote?')],
};

/** The steps that have other texts for HTTP. `key-or-token` is shown only if a test stops at it. */
const HTTP_STEPS: Partial<Record<DiagnosisStep, StepText>> = {
  greeting: [defineMessage('Encryption'), defineMessage('With https://: is the certificate valid?')],
  'key-or-token': [defineMessage('Secret'), defineMessage('Does it accept our signature?')],
  acknowledgement: [defineMessage('Reply'), defineMessage('Does it accept the test vote?')],
};

const FETCH_STEP: StepText = [defineMessage('Call'), defineMessage('Does a program ask for votes?')];

const ORDER = Object.keys(STEPS) as DiagnosisStep[];

/** The settings of a listener on which the steps and texts of its test depend. */
export type Tested = { protocol: Protocol; url?: string | null; serviceName?: string };

/** An `http://` URL has no encryption to test; HTTP has no protocol version or token. */
function hasStep(step: DiagnosisStep, { protocol, url }: Tested): boolean {
  if (protocol === 'fetch') return step === 'acknowledgement';
  if (protocol !== 'http') return true;
  if (step === 'greeting') return !url?.startsWith('http:');
  return step !== 'protocol-version' && step !== 'key-or-token';
}

function stepText(step: DiagnosisStep, { protocol }: Tested): StepText {
  if (protocol === 'fetch') return FETCH_STEP;
  return (protocol === 'http' ? HTTP_STEPS[step] : undefined) ?? STEPS[step];
}

export function beginning(step: DiagnosisStep, tested: Tested): Html {
  if (!hasStep(step, tested)) return html``;
  const [name, question] = stepText(step, tested);
  return html`<li><strong>${t(name)}</strong> <span class="soft">${t(question)}</span></li>`;
}

function answerOf({ outcome, fault, reply, isReplyHidden }: Diagnosis): Content {
  if (reply) return t('“<bdi>{words}</bdi>”', { words: reply });
  if (isReplyHidden) return t('hidden: the listener has not acknowledged a vote yet, so it may not be yours');
  return outcome === 'delivered' || !fault ? null : t('no answer');
}

export function diagnosisResult(diagnosis: Diagnosis, tested: Tested): Html {
  const { outcome, fault, reply, detail } = diagnosis;
  const { cause, advice } = withServiceName(diagnosis, tested.serviceName);
  const isFetching = tested.protocol === 'fetch';
  const arrived = outcome === 'delivered';
  const unconfirmed = outcome === 'sent-not-confirmed';
  const tone: Tone = unconfirmed ? 'attention' : arrived ? 'good' : 'bad';
  return html`<div class="verdict">
    <ol class="steps">${stepResults(diagnosis, tested)}</ol>
    <div class="notice ${tone}" role="status">
      <p><strong>${headOf(outcome, isFetching)}</strong></p>
      <p>${t(cause)}</p>
      ${advice !== NOTHING_TO_DO ? html`<p>${t(advice)}</p>` : ''}
    </div>
    ${
      reply || fault || isFetching
        ? facts([
            [t('Listener’s answer'), isFetching ? null : answerOf(diagnosis)],
            [isFetching ? t('Program') : t('Detail'), detail],
            [t('Error code'), fault ? html`<code>${fault}</code>` : null],
          ])
        : ''
    }
  </div>`;
}

function headOf(outcome: Diagnosis['outcome'], isFetching: boolean): string {
  if (isFetching)
    return outcome === 'delivered' ? t('A program asked for votes') : t('No program asked for votes');
  switch (outcome) {
    case 'delivered':
      return t('The test vote arrived');
    case 'sent-not-confirmed':
      return t('The test vote was sent, but not confirmed');
    // An ambiguous outcome: the vote may have arrived, so this title must not say that it did not.
    case 'ambiguous':
      return t('The test vote got no answer that confirms it');
    default:
      return t('The test vote did not arrive');
  }
}

function stepResults({ outcome, fault, step: stopped }: Diagnosis, tested: Tested): Html[] {
  const steps = ORDER.filter((step) => hasStep(step, tested) || step === stopped);
  const last = steps.indexOf(stopped);
  const unconfirmed = outcome === 'sent-not-confirmed';
  return steps.map((step, index) => {
    const [name, question] = stepText(step, tested);
    if (fault === null && outcome !== 'delivered' && !unconfirmed)
      return stepResult('quiet', name, question, t('unknown'));
    if (fault !== null && index === last) return stepResult('bad', name, question, t('failed'));
    if (fault !== null && index > last) return stepResult('quiet', name, question, t('not reached'));
    // If the listener closes the connection without an answer, neither the key nor the vote is confirmed.
    const silent = unconfirmed && (step === 'key-or-token' || step === 'acknowledgement');
    return silent
      ? stepResult('attention', name, question, t('not confirmed'))
      : stepResult('good', name, question, t('passed'));
  });
}

function stepResult(tone: Tone, name: Text, question: Text, result: string): Html {
  return html`<li class="${tone}">
    <strong>${t(name)}</strong> ${badge(tone, result)} <span class="soft">${t(question)}</span>
  </li>`;
}
