import type { Collection, ObjectId } from 'mongodb';
import { type Edition, editionOf } from '../games/editions.ts';
import type { Batcher } from '../platform/batching/batcher.ts';
import type { Clock } from '../platform/clock.ts';
import type { AddressState } from '../servers/checked-state.ts';
import type { Pausable } from '../servers/listing-pause.ts';
import { secondOf } from '../servers/second-address.ts';
import type { Server, ServerStatus } from '../servers/server.ts';
import { serverLoader } from '../servers/server-loader.ts';
import { addressStatusAt, playersHidden, STATUS_FIELDS, statusAt } from './current-status.ts';

export type ServerAddressNow = {
  edition: Edition | null;
  address: string;
  port: number;
  status: ServerStatus;
  /** Null while the number is hidden or unknown. */
  onlinePlayers: number | null;
};

/** The projection for `addressesOf`. */
export const ADDRESS_FIELDS = {
  game: 1,
  address: 1,
  port: 1,
  second: 1,
  'current.onlinePlayers': 1,
  'current.playersHidden': 1,
  ...STATUS_FIELDS,
} as const;

const addressedServers = serverLoader({ ...ADDRESS_FIELDS, removedAt: 1, hiddenAt: 1 });

/** Null when no server with this id is listed. */
export async function readServerAddresses(
  deps: { servers: Collection<Server>; batcher: Batcher; clock: Clock },
  serverId: ObjectId,
): Promise<ServerAddressNow[] | null> {
  const server = await deps.batcher.load(addressedServers, deps.servers, serverId);
  return server && !server.removedAt ? addressesOf(server, deps.clock.now()) : null;
}

type Addressed = Pick<Server, 'game' | 'address' | 'port' | 'second' | 'current' | 'probe' | 'lastReport'> &
  Pausable;

/** One, or two with the state that the checks of each found; reports say nothing of a single address. */
export function addressesOf(server: Addressed, now: Date): ServerAddressNow[] {
  const { game, address, port, current } = server;
  const first = { edition: editionOf(game), address, port };
  const second = secondOf(server);
  if (!second) {
    const status = statusAt(server, now);
    const onlinePlayers = playersIn(status, playersHidden(current) ? null : current.onlinePlayers);
    return [{ ...first, status, onlinePlayers }];
  }
  const seen = (state: AddressState) => {
    const status = addressStatusAt(state, server, now);
    return { status, onlinePlayers: playersIn(status, state.onlinePlayers ?? null) };
  };
  return [
    { ...first, ...seen(second.firstState) },
    { edition: editionOf(second.game.id), address: second.address, port: second.port, ...seen(second.state) },
  ];
}

function playersIn(status: ServerStatus, last: number | null): number | null {
  return status === 'offline' ? 0 : last;
}
