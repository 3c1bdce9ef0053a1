import type { DraftCheck } from '../servers/server-draft.ts';

/**
 * The result of a draft's check as a server's fields, so that its page has figures before the first probe. Null when
 * the server was not queried. It is no sample: no statistics include it.
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
