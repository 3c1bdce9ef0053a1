import { EVENTUALLY } from './eventually.ts';

/** One line of a process's log. */
export type LogLine = { event?: string } & Record<string, unknown>;

/** What a process has logged so far. */
export type LogLines = {
  lines: LogLine[];
  /** Adds a line of output: JSON, or other text, which is shown only if a wait fails. */
  add(text: string): void;
  /** Says that the output has ended: every current and later wait fails at once. */
  end(): void;
  /** Waits for the first line of this event for which `matching` is true. Lines that were already logged count too. */
  waitForEvent(event: string, matching?: (line: LogLine) => boolean): Promise<LogLine>;
};

/** Collects the lines of a log, so that a test can wait for one. */
export function collectLines(): LogLines {
  const lines: LogLine[] = [];
  const output: string[] = [];
  const waiting = new Set<() => void>();
  let ended = false;
  const lookAgain = () => {
    for (const look of waiting) look();
  };
  return {
    lines,
    add(text) {
      output.push(text);
      if (text.startsWith('{')) lines.push(JSON.parse(text));
      lookAgain();
    },
    end() {
      ended = true;
      lookAgain();
    },
    waitForEvent(event, matching = () => true) {
      const { promise, resolve, reject } = Promise.withResolvers<LogLine>();
      const fail = (why: string) =>
        reject(new Error(`${why} before ${event}:\n${output.slice(-40).join('\n')}`));
      const look = () => {
        const line = lines.find((line) => line.event === event && matching(line));
        if (line) resolve(line);
        else if (ended) fail('The process ended');
      };
      const timer = setTimeout(() => fail(`${EVENTUALLY.timeout} ms passed`), EVENTUALLY.timeout);
      waiting.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(look);
      });
    },
  };
}
