import type { ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { isRefusedPort } from '../../platform/address-guard.ts';
import { useCheckAllowance } from '../../platform/limits/check-allowance.ts';
import type { DeliveryDeps } from '../deps.ts';
import { portOf } from '../http/http-message.ts';
import type { GameAddress } from './explain.ts';

/** Why a listener cannot be tested. The codes are stable. `port-refused`: vote listeners may not have this port. */
export type NotTestable = { code: 'not-found' | 'no-listener' | 'port-refused' };

/** Why an owner gets no diagnosis; the codes are stable. Anybody may list a server, so ownership must be proven. */
export type DiagnosisRefusal =
  | NotTestable
  | { code: 'ownership-not-proven' }
  | { code: 'too-many'; nextAllowedAt: Date };

export type OwnerRequest = {
  ownerId: string;
  serverId: ObjectId;
  /** Whether this owner has proven the ownership. */
  proven: boolean;
  /** Whether the caller has counted this check (`useCheckAllowance`). */
  alreadyCounted?: boolean;
};

/**
 * Decides whether an owner may have a listener diagnosed, and counts the check; null if so. It opens no connection.
 * Without limits a diagnosis would be a port scanner (design rule 11).
 */
export async function requestDiagnosis(
  deps: DeliveryDeps,
  { ownerId, serverId, proven, alreadyCounted = false }: OwnerRequest,
): Promise<DiagnosisRefusal | null> {
  if (!proven) return { code: 'ownership-not-proven' };
  const tested = await testedListener(deps, serverId);
  if ('code' in tested) return tested;
  const nextAllowedAt = alreadyCounted ? null : await useCheckAllowance(deps, ownerId);
  return nextAllowedAt && { code: 'too-many', nextAllowedAt };
}

export async function testedListener(
  { servers, listeners }: DeliveryDeps,
  serverId: ObjectId,
): Promise<{ listener: Listener; accountId: string | null; game: GameAddress } | NotTestable> {
  const projection = { ownerId: 1, address: 1, port: 1 };
  const server = await servers.findOne({ _id: serverId, removedAt: null }, { projection });
  if (!server) return { code: 'not-found' };
  const listener = await listeners.findOne({ serverId });
  if (!listener) return { code: 'no-listener' };
  const { port, url } = listener;
  if (isRefusedPort(port) || (url && isRefusedPort(portOf(new URL(url))))) return { code: 'port-refused' };
  return { listener, accountId: server.ownerId?.toHexString() ?? null, game: server };
}
