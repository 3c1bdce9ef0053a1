import { isRefusedPort } from '../platform/address-guard.ts';
import type { Game } from './games.ts';

/**
 * The ports at which a server may answer queries, the most likely first. If the owner set a query port, only this one.
 * Otherwise gamedig's rule applies (lib/QueryRunner.js): a fixed port if players use the usual one, the players' port
 * plus the game's offsets, and the players' port itself. Refused ports are left out.
 */
export function queryPorts(
  { port, queryPort }: { port: number; queryPort: number | null },
  game: Game,
): number[] {
  if (queryPort !== null) return isRefusedPort(queryPort) ? [] : [queryPort];
  const fixed = port === game.port && game.fixedQueryPort !== null ? [game.fixedQueryPort] : [];
  const offset = game.queryPortOffsets.map((difference) => port + difference);
  const ports = [...fixed, ...offset, port].filter((candidate) => candidate >= 1 && candidate <= 65_535);
  return [...new Set(ports)].filter((candidate) => !isRefusedPort(candidate));
}
