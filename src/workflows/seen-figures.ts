import type { DraftCheck } from '../servers/server-draft.ts';

/**
 * What the check of a draft has seen, as a server's fields: its page then has figures before the first probe. Null when
 * the server was not queried. No sample: it counts for no statistics.
 */
export function seenFigures({
  at,
  reached,
  onlinePlayers,
  maxPlayers,
  motd,
  version,
  latencyMs,
}: DraftCheck) {
  if (!reached) return null;
  return {
    current: {
      onlinePlayers,
      maxPlayers,
      playersSource: 'probes' as const,
      motd: motd ?? '',
      version: version ?? '',
      checkedAt: at,
    },
    probe: { status: 'online' as const, latencyMs, checkedAt: at, succeededAt: at },
  };
}
