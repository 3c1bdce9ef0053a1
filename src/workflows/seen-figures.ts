import type { DraftCheck } from '../servers/server-draft.ts';

/**
 * A draft's check as fields of a server, so that its page has figures before the first probe; null if the check did not
 * reach the server. The check is not a sample, so no statistics include it.
 */
export function seenFigures({
  at,
  reached,
  onlinePlayers,
  playersHidden = false,
  maxPlayers,
  motd,
  version,
  latencyMs,
}: DraftCheck) {
  if (!reached) return null;
  return {
    current: {
      onlinePlayers,
      playersHidden,
      maxPlayers,
      playersSource: 'probes' as const,
      motd: motd ?? '',
      version: version ?? '',
      checkedAt: at,
    },
    probe: { status: 'online' as const, latencyMs, checkedAt: at, succeededAt: at },
  };
}
