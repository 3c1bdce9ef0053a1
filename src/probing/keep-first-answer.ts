import type { Protocol, Results } from 'gamedig';
import { countOf } from './read-answer.ts';

/**
 * Makes a gamedig protocol return its first answer even if a later question fails; gamedig alone would throw it away.
 * Must be called after the network methods are set.
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
    // gamedig begins with 0 players: a number that is not sent must stay unknown.
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

/**
 * gamedig requests the list of cars (`/JSON|…`) before it uses the answer to `/INFO`: without it the query would fail.
 */
function carsOptional(request: Protocol['request']): Protocol['request'] {
  return async (query) => {
    if (!(query as { url: string }).url.includes('/JSON|')) return request(query);
    const list = await request(query).catch(() => null);
    return Array.isArray(Object(list).Cars) ? list : { Cars: [] };
  };
}
