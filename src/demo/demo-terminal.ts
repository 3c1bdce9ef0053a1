import { styleText } from 'node:util';
import { SECOND } from '../platform/clock.ts';
import type { DemoEvents } from './sample-listeners.ts';

/** What the demo prints while it runs. Votes of made-up players are only counted; any other event is one line. */
export type DemoTerminal = DemoEvents & {
  say(line: string): void;
  highlight(line: string): void;
  /** The votes of made-up players that arrived since the last call, and those that wait, by server. */
  traffic(waiting: Map<string, number>): void;
};

export function openTerminal(print: (line: string) => void): DemoTerminal {
  let arrived = new Map<string, number>();
  const say = (line: string) => print(`${new Date().toISOString().slice(11, 19)}  ${line}`);
  const highlight = (line: string) => say(styleText('bold', line));
  return {
    say,
    highlight,
    arrived(name) {
      arrived.set(name, (arrived.get(name) ?? 0) + 1);
    },
    received(name, { username, serviceName, timestamp, uuid }) {
      const cast = typeof timestamp === 'number' ? new Date(timestamp).toISOString() : timestamp;
      const vote = JSON.stringify({ username, serviceName, timestamp: cast, uuid });
      highlight(`${name}: the listener received a vote: ${vote}`);
    },
    left(name, awayMs) {
      say(`${name}: the listener is down for ${awayMs / SECOND} s, its votes wait`);
    },
    returned(name) {
      say(
        `${name}: the listener is back, waiting votes arrive with their next attempt, within half a minute`,
      );
    },
    moved(name, port) {
      say(`${name}: another program uses the listener’s port, so it listens on port ${port} now`);
    },
    stuck(name, reason) {
      say(`${name}: the listener could not start (${reason}), it tries again`);
    },
    traffic(waiting) {
      const parts = [counted('arrived', arrived), counted('wait', waiting)].filter((part) => part !== '');
      arrived = new Map();
      if (parts.length > 0) say(`votes of made-up players: ${parts.join('; ')}`);
    },
  };
}

function counted(what: string, votes: Map<string, number>): string {
  const some = [...votes].filter(([, count]) => count > 0);
  const sum = some.reduce((total, [, count]) => total + count, 0);
  return sum === 0 ? '' : `${sum} ${what} (${some.map(([name, count]) => `${name} ${count}`).join(', ')})`;
}
