import type { Collection, ObjectId } from 'mongodb';
import type { Server } from '../../servers/server.ts';
import { type DiagnosisDeps, diagnose } from './diagnose-listener.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { OnStep } from './diagnosis-steps.ts';
import { type NotTestable, testedListener } from './request-diagnosis.ts';

export type OwnerDiagnosis =
  | { kind: 'diagnosed'; diagnosis: Diagnosis }
  | ({ kind: 'refused' } & NotTestable);

/**
 * Diagnoses a server's listener for its owner, after `requestDiagnosis` has allowed it. Shows at most 200 printable
 * characters of an answer, and only those of a vote listener.
 *
 * @throws {UnsealError} when the listener's secret cannot be read; what MongoDB throws
 */
export async function diagnoseForOwner(
  deps: DiagnosisDeps & { servers: Collection<Server> },
  serverId: ObjectId,
  onStep?: OnStep,
): Promise<OwnerDiagnosis> {
  // The listener is read once: it may have changed since the request, and exactly the listener that is checked here
  // must be connected to.
  const tested = await testedListener(deps, serverId);
  if ('code' in tested) return { kind: 'refused', ...tested };
  const { listener, accountId, game } = tested;
  return {
    kind: 'diagnosed',
    diagnosis: await diagnose(deps, listener, { accountId, game, onStep, forOwner: true }),
  };
}
