import type { Collection, ObjectId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { TtlCache } from '../platform/batching/ttl-cache.ts';
import type { Clock } from '../platform/clock.ts';
import type { ApiToken, AuthenticatedToken } from './api-token.ts';
import { type IssuedToken, issueToken, revokeToken, rotateToken } from './api-tokens.ts';

type Tokens = { apiTokens: Collection<ApiToken>; auditLog: Collection<AuditEntry>; clock: Clock };
type InvalidateDeps = Tokens & { authentications: TtlCache<AuthenticatedToken> };

/** Runs `issueToken` and writes the user to the audit log. Throws what `issueToken` throws. */
export async function issueTokenBy(
  deps: Tokens,
  request: Parameters<typeof issueToken>[1],
  by: string,
): Promise<IssuedToken> {
  const issued = await issueToken(deps, request);
  const { serverId, name, kind = 'api', scopes, expiresInMs = null } = request;
  const details = {
    tokenId: issued.tokenId,
    name: name.trim(),
    kind,
    expiresInMs,
    ...(scopes ? { scopes } : {}),
  };
  await recordAudit(deps, { by, action: 'token.issue', serverId, details });
  return issued;
}

/** Runs `rotateToken` and writes the user to the audit log. Throws what `rotateToken` throws. */
export async function rotateTokenBy(
  deps: InvalidateDeps,
  serverId: ObjectId,
  tokenId: ObjectId,
  options: Parameters<typeof rotateToken>[3],
  by: string,
): Promise<IssuedToken | null> {
  const issued = await rotateToken(deps, serverId, tokenId, options);
  if (!issued) return null;
  const details = { tokenId: tokenId.toHexString(), newId: issued.tokenId, overlapMs: options.overlapMs };
  await recordAudit(deps, { by, action: 'token.rotate', serverId, details });
  return issued;
}

/** Runs `revokeToken` and writes the user to the audit log. */
export async function revokeTokenBy(
  deps: InvalidateDeps,
  serverId: ObjectId,
  tokenId: ObjectId,
  by: string,
): Promise<boolean> {
  const revoked = await revokeToken(deps, serverId, tokenId);
  const details = { tokenId: tokenId.toHexString() };
  if (revoked) await recordAudit(deps, { by, action: 'token.revoke', serverId, details });
  return revoked;
}
