import type { Protocol, Results } from 'gamedig';
import { countOf } from './read-answer.ts';

const SPLIT_REPLY = -2;

/**
 * Datagrams that gamedig's protocols must not process. `mumbleping` accepts any 24 bytes; a real answer repeats the
 * number that was sent. `valve` (here for Battalion 1944) and `ffow` unpack bzip2 without a limit: a few bytes could
 * fill the memory. Only servers of 2006 compress, and only long replies, which are not requested.
 */
export function refuseDatagram(name: string, protocol: Protocol): (datagram: Buffer) => boolean {
  if (name === 'mumbleping') return (datagram) => datagram.toString('hex', 4, 12) !== '0102030405060708';
  if ('goldsrcSplits' in protocol) {
    return (datagram) =>
      !protocol.goldsrcSplits &&
      datagram.length >= 8 &&
      datagram.readInt32LE(0) === SPLIT_REPLY &&
      datagram.readInt32LE(4) < 0;
  }
  return () => false;
}

/** A malicious server could keep the processor busy for minutes. */
export function limitProtocol(name: string, protocol: Protocol): void {
  // A regular expression with quadratic run time.
  if (protocol.cleanComment) protocol.cleanComment = (text) => text;
  boundReader(protocol, HEADLESS.includes(name) ? 2 : MOST_READS_PAST_END);
  boundBattlefield(protocol);
}

/** Some parsers loop as often as a number in the answer says. */
const MOST_READS_PAST_END = 1_000;

/** Answers without a header: one without some fields cannot be told from garbage. */
const HEADLESS = ['armagetron', 'rfactor', 'savage2'];

function boundReader(protocol: Protocol, mostPastEnd: number): void {
  const { reader: make } = protocol;
  protocol.reader = (bytes) => {
    const reader = make.call(protocol, bytes);
    const { string, uint } = reader;
    let past = 0;
    const count = () => {
      if (!reader.done()) return;
      past += 1;
      if (past > mostPastEnd) throw new Error('The answer ends before it should');
    };
    reader.string = (how) => {
      count();
      return string.call(reader, how);
    };
    reader.uint = (length) => {
      count();
      return uint.call(reader, length);
    };
    return reader;
  };
}

/** It loops as often as a number in the answer says; a valid one is at most the number of words. */
function boundBattlefield(protocol: Protocol): void {
  const { query } = protocol;
  if (!query) return;
  protocol.query = async (socket, command) => {
    const words = await query.call(protocol, socket, command);
    if (!Array.isArray(words)) return words;
    const counts = command[0] === 'serverInfo' ? [words[7]] : [words[0], words[1 + Number(words[0])]];
    const isCount = (word: unknown) => word === undefined || !(Number(word) > words.length);
    if (command[0] !== 'version' && !counts.every(isCount)) throw new Error('A count without its words');
    return words;
  };
}

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
