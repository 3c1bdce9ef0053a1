import { styleText } from 'node:util';
import { SECOND } from '../platform/clock.ts';
import type { DemoEvents } from './sample-listeners.ts';

/** What the demo prints while it runs: a line for what matters, one now and then for the traffic. */
export type Terminal = DemoEvents & {
  say(line: string): void;
  /** Says it so that it stands out: it is about what the user at the terminal did. */
  tell(line: string): void;
  /** Tells in one line of the votes that arrived since the last one; with nothing to tell it is silent. */
  traffic(waiting: Map<string, number>): void;
};

/** Opens what the demo tells, line by line. */
export function openTerminal(print: (line: string) => void): Terminal {
  let arrived = new Map<string, number>();
  const say = (line: string) => print(`${new Date().toISOString().slice(11, 19)}  ${line}`);
  const tell = (line: string) => say(styleText('bold', line));
  return {
    say,
    tell,
    arrived(name) {
      arrived.set(name, (arrived.get(name) ?? 0) + 1);
    },
    received(name, { username, serviceName, timestamp, uuid }) {
      const cast = typeof timestamp === 'number' ? new Date(timestamp).toISOString() : timestamp;
      const vote = JSON.stringify({ username, serviceName, timestamp: cast, uuid });
      tell(`${name}: the listener received a vote: ${vote}`);
    },
    left(name, awayMs) {
      say(`${name}: the listener is down for ${awayMs / SECOND} s, its votes wait`);
    },
    returned(name) {
      say(
        `${name}: the listener is back, waiting votes arrive with their next attempt, within half a minute`,
      );
    },
    traffic(waiting) {
      const news = [counted('arrived', arrived), counted('wait', waiting)].filter((part) => part !== '');
      arrived = new Map();
      if (news.length > 0) say(`votes of made-up players: ${news.join('; ')}`);
    },
  };
}

function counted(what: string, votes: Map<string, number>): string {
  const some = [...votes].filter(([, count]) => count > 0);
  const sum = some.reduce((total, [, count]) => total + count, 0);
  return sum === 0 ? '' : `${sum} ${what} (${some.map(([name, count]) => `${name} ${count}`).join(', ')})`;
}
