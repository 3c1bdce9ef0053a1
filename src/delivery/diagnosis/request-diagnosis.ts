import type { ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { isRefusedPort } from '../../platform/address-guard.ts';
import { useCheckAllowance } from '../../platform/limits/check-allowance.ts';
import type { DeliveryDeps } from '../deps.ts';
import { portOf } from '../http/http-message.ts';
import type { GameAddress } from './game-port.ts';

/**
 * Why a listener cannot be tested. The codes are stable.
 *
 * - `not-found`: no listed server has this id.
 * - `no-listener`: the server has no vote listener.
 * - `port-refused`: the listener has a port on which vote listeners are not allowed.
 */
export type NotTestable = { code: 'not-found' | 'no-listener' | 'port-refused' };

/**
 * Why an owner gets no diagnosis. The codes are stable.
 *
 * - `ownership-not-proven`: anybody may list a server, but only its proven owner may have it diagnosed.
 * - `too-many`: as many checks were started as `CHECKS` allows; the next is allowed at `nextAllowedAt`.
 */
export type DiagnosisRefusal =
  | NotTestable
  | { code: 'ownership-not-proven' }
  | { code: 'too-many'; nextAllowedAt: Date };

export type OwnerRequest = {
  ownerId: string;
  serverId: ObjectId;
  /** Whether this owner has proven the ownership of this server. */
  proven: boolean;
  /** Whether the caller has already counted this check (`useCheckAllowance`). */
  alreadyCounted?: boolean;
};

/**
 * Decides whether an owner may have a listener diagnosed, and counts the check for the owner's limit. It opens no
 * connection. Without limits a diagnosis would be a port scanner (design rule 11). So ownership must be proven, an
 * owner has six checks in any minute over all processes, and ports of mail and remote shells are refused.
 *
 * @returns null when the diagnosis is allowed, otherwise why not
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

/** A server's listener, its owner's account and its game's address, or why the listener cannot be tested. */
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
