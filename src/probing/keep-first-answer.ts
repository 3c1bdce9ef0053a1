import type { Protocol, Results } from 'gamedig';
import { countOf } from './read-answer.ts';

/**
 * Makes a protocol of gamedig return what its first answer said when a later question is refused, ignored or answered
 * wrongly: gamedig would throw all of it away. Must be called when the network methods of the protocol are in place.
 */
export function keepFirstAnswer(name: string, protocol: Protocol): void {
  let asked = 0;
  const counted =
    <A extends unknown[]>(ask: (...args: A) => Promise<unknown>) =>
    (...args: A) => {
      asked += 1;
      return ask(...args);
    };
  const { run } = protocol;
  protocol.udpSend = counted(protocol.udpSend);
  protocol.tcpSend = counted(protocol.tcpSend);
  protocol.request = counted(protocol.request);
  if (name === 'assettocorsa') protocol.request = carsOptional(protocol.request);
  protocol.run = async (results) => {
    // gamedig's results begin with 0 players: a number that the server does not say must stay unknown.
    results.numplayers = undefined;
    results.maxplayers = undefined;
    try {
      await run.call(protocol, results);
    } catch (error) {
      if (asked < 2 || !saysSomething(results)) throw error;
    }
  };
}

function saysSomething({ name, numplayers, maxplayers }: Results): boolean {
  return (
    typeof name === 'string' &&
    name !== '' &&
    [numplayers, maxplayers].some((count) => countOf(count) !== null)
  );
}

/** For Assetto Corsa: gamedig reads `/JSON|…`, the list of cars, before it uses the info of `/INFO`. */
function carsOptional(request: Protocol['request']): Protocol['request'] {
  return async (query) => {
    if (!(query as { url: string }).url.includes('/JSON|')) return request(query);
    const list = await request(query).catch(() => null);
    return Array.isArray(Object(list).Cars) ? list : { Cars: [] };
  };
}
