import type { Listener, ListenerTestResult } from '../../listeners/listener.ts';
import { OTHER_SERVICES, type OtherService, OUTCOMES } from '../../listeners/outcomes.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { DiagnosisStep } from './diagnosis-steps.ts';
import type { Explanation } from './explanation.ts';
import { explain } from './explanations.ts';
import type { Fault } from './faults.ts';
import { GAME_PORT } from './game-port.ts';
import { hasTaken } from './listener-reason.ts';
import { SERVICE_EXPLANATIONS } from './service-explanations.ts';
import { FETCHED, testAdvice } from './test-explanations.ts';

/**
 * The last test of a listener and its time; null if there is none with its present settings, or its steps were not
 * stored.
 */
export function lastTest(
  listener: Pick<
    Listener,
    'tested' | 'updatedAt' | 'protocol' | 'acknowledgedAt' | 'lastDeliveredAt' | 'serviceName'
  >,
): { at: Date; diagnosis: Diagnosis } | null {
  const { tested, updatedAt } = listener;
  if (!tested?.result || tested.at < updatedAt) return null;
  const { code, result, at } = tested;
  const { fault, step, reply, isReplyHidden, detail } = result;
  const diagnosis: Diagnosis = {
    outcome: code === 'sent-not-confirmed' ? code : OUTCOMES[code],
    confirmed: code === 'acknowledged',
    fault: (fault as Fault | undefined) ?? null,
    step: step as DiagnosisStep,
    ...explanationOf(listener, tested.code, result),
    ...(reply ? { reply } : {}),
    ...(isReplyHidden ? { isReplyHidden: true } : {}),
    ...(detail ? { detail } : {}),
  };
  return { at, diagnosis };
}

function explanationOf(
  listener: Parameters<typeof lastTest>[0],
  code: NonNullable<Listener['tested']>['code'],
  { fault, hasGamePort }: ListenerTestResult,
): Explanation {
  const { protocol } = listener;
  if (protocol === 'fetch' && code === 'acknowledged') return FETCHED;
  if (hasGamePort) return GAME_PORT;
  if (protocol !== 'http' && isOtherService(fault)) return SERVICE_EXPLANATIONS[fault];
  return { ...explain(code, protocol, { hasTaken: hasTaken(listener) }), ...testAdvice(code) };
}

function isOtherService(fault: string | null | undefined): fault is OtherService {
  return OTHER_SERVICES.some((service) => service === fault);
}
