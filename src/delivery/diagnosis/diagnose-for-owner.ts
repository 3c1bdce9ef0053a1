import type { Collection, ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { isRefusedPort } from '../../platform/address-guard.ts';
import { type CheckAllowance, useCheckAllowance } from '../../platform/limits/check-allowance.ts';
import type { Server } from '../../servers/server.ts';
import { portOf } from '../http/http-client.ts';
import { type Diagnosis, type DiagnosisDeps, diagnose } from './diagnose-listener.ts';
import type { OnStep } from './diagnosis-steps.ts';

type OwnerDiagnosisDeps = DiagnosisDeps & {
  servers: Collection<Server>;
  diagnosisAllowances: Collection<CheckAllowance>;
};

/**
 * Why an owner gets no diagnosis. The codes are stable.
 *
 * - `ownership-not-proven`: anybody may list a server, but only its proven owner may have it diagnosed.
 * - `not-found`: no listed server has this id.
 * - `no-listener`: the server has no vote listener.
 * - `port-refused`: the listener has a port on which vote listeners are not allowed.
 * - `too-many`: six diagnoses were made in the last minute; the next is allowed at `nextAllowedAt`.
 */
type DiagnosisRefusal =
  | { code: 'ownership-not-proven' | 'not-found' | 'no-listener' | 'port-refused' }
  | { code: 'too-many'; nextAllowedAt: Date };

export type OwnerDiagnosis =
  | { kind: 'diagnosed'; diagnosis: Diagnosis }
  | ({ kind: 'refused' } & DiagnosisRefusal);

/**
 * Diagnoses a server's listener for its owner. Without limits this would be a port scanner (design rule 11): it is only
 * for a server whose ownership is proven, six in any minute for an owner over all processes, never on ports of mail and
 * remote shells, and shows at most 200 printable characters of an answer.
 *
 * @param request - `proven`: whether this owner has proven the ownership of this server
 * @throws {UnsealError} when the listener's secret cannot be read; what MongoDB throws
 */
export async function diagnoseForOwner(
  deps: OwnerDiagnosisDeps,
  { ownerId, serverId, proven, onStep, isCounted = false }: OwnerRequest,
): Promise<OwnerDiagnosis> {
  if (!proven) return { kind: 'refused', code: 'ownership-not-proven' };
  const server = await deps.servers.findOne(
    { _id: serverId, removedAt: null },
    { projection: { ownerId: 1 } },
  );
  if (!server) return { kind: 'refused', code: 'not-found' };
  // Read once: exactly the checked listener is connected to.
  const listener = await deps.listeners.findOne({ serverId });
  if (!listener) return { kind: 'refused', code: 'no-listener' };
  if (portsOf(listener).some(isRefusedPort)) return { kind: 'refused', code: 'port-refused' };
  const nextAllowedAt = isCounted ? null : await useCheckAllowance(deps, ownerId);
  if (nextAllowedAt) return { kind: 'refused', code: 'too-many', nextAllowedAt };
  const accountId = server.ownerId?.toHexString() ?? null;
  return {
    kind: 'diagnosed',
    diagnosis: await diagnose(deps, listener, { accountId, onStep, forOwner: true }),
  };
}

export type OwnerRequest = {
  ownerId: string;
  serverId: ObjectId;
  proven: boolean;
  onStep?: OnStep;
  /** The caller has taken this check from the allowance already. */
  isCounted?: boolean;
};

function portsOf({ port, url }: Listener): number[] {
  return url ? [port, portOf(new URL(url))] : [port];
}
