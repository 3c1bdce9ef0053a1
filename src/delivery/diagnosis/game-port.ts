import { explanation } from '../../listeners/explanation.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { Server } from '../../servers/server.ts';

export type GameAddress = Pick<Server, 'address' | 'port'>;

export const GAME_PORT = explanation(
  'The listener has the port of the game itself, as it is listed here: players join there, and the vote plugin listens on a port of its own.',
  'Set the port from the vote plugin’s configuration, usually 8192, and open it in the firewall and in the hosting panel.',
);

export function isGamePort(
  { protocol, host, port }: Pick<Listener, 'protocol' | 'host' | 'port'>,
  game: GameAddress,
): boolean {
  const isVotifier = protocol === 'votifier-v1' || protocol === 'votifier-v2';
  return isVotifier && port === game.port && withoutDot(host) === withoutDot(game.address);
}

function withoutDot(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
