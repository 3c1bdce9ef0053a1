import { SECOND } from './clock.ts';

/** SIGHUP comes when the terminal is closed. */
const SIGNALS: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** npm passes Ctrl-C on to a process that has it from the terminal already: both are one wish. */
const ONE_WISH_MS = SECOND / 2;

/**
 * Calls `first` at the first signal that asks this process to end, and `second` at the next one.
 *
 * @returns a function after whose call signals end the process as they usually do
 */
export function onStopSignal(act: { first(): void; second(): void }): () => void {
  let askedAt: number | undefined;
  const hear = () => {
    const now = performance.now();
    if (askedAt === undefined) {
      askedAt = now;
      act.first();
    } else if (now - askedAt > ONE_WISH_MS) {
      act.second();
    }
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  // A closed terminal takes no more output; that must not keep us from stopping in order.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  return () => {
    for (const signal of SIGNALS) process.off(signal, hear);
  };
}
