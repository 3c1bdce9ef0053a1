import { diagnoseListener } from '../delivery/diagnosis/diagnose-listener.ts';
import type { Diagnosis } from '../delivery/diagnosis/diagnosis.ts';
import { createVoteSender } from '../delivery/send-vote.ts';
import { t } from '../language/t.ts';
import type { DiagnosisStep } from '../listeners/outcomes/outcome-definition.ts';
import type { Answer } from './answer.ts';
import { noListenerError, requireServer } from './find.ts';
import { showsProgress } from './progress-bar.ts';
import type { Session } from './session.ts';
import { pairs } from './table.ts';
import { say, type Terminal, UNCONFIRMED } from './terminal.ts';

/** Sends a test vote. If the game server fetches its votes, waits for its next take instead. */
export async function testListener(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  const deps = { ...session, send: createVoteSender(session.config) };
  const diagnosis = await diagnoseListener(deps, server._id, (step) => sayStep(session.terminal, step));
  if (!diagnosis) throw noListenerError(session, server);
  const { advice, ...found } = diagnosis;
  const { outcome, fault, step, cause, reply, detail } = found;
  const exitCode = EXIT_CODES[outcome] ?? 1;
  const ended = outcome === 'sent-not-confirmed' ? 'sent, not confirmed' : outcome;
  return {
    json: { ...(exitCode === 1 ? { error: t(cause) } : {}), ...found, cause: t(cause), mend: t(advice) },
    text: pairs([
      ['Outcome', fault ? `${ended} (${fault})` : ended],
      [exitCode === 1 ? 'Stopped at' : 'Reached', step.replaceAll('-', ' ')],
      ['Answer', reply ? `“${reply}”` : '-'],
      ['Found', detail || null],
      ['Cause', t(cause)],
      ['What to do', t(advice)],
    ]),
    ...(exitCode ? { exitCode } : {}),
  };
}

/** Other outcomes of a test vote mean 1. */
const EXIT_CODES: Partial<Record<Diagnosis['outcome'], 0 | typeof UNCONFIRMED>> = {
  delivered: 0,
  'sent-not-confirmed': UNCONFIRMED,
};

const STEPS: Record<DiagnosisStep, string> = {
  'name-resolution': 'Looking up the host',
  'address-policy': 'Checking its addresses',
  connecting: 'Connecting',
  greeting: 'Waiting for the greeting',
  'protocol-version': 'Choosing the protocol version',
  'key-or-token': 'Sending a test vote with the key or token',
  acknowledgement: 'Waiting for the acknowledgement',
};

function sayStep(terminal: Terminal, step: DiagnosisStep): void {
  if (showsProgress(terminal)) say(terminal, `${STEPS[step]} …`);
}
