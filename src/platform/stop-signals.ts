import { SECOND } from './clock.ts';

/** SIGHUP is sent when the terminal is closed. */
const SIGNALS: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Two signals within this time count as one: npm forwards a Ctrl-C that the terminal has already sent. */
const SAME_SIGNAL_MS = SECOND / 2;

/** @returns a function that restores the default handling of signals */
export function onStopSignal(act: { first(): void; second(): void }): () => void {
  let firstAt: number | undefined;
  const onSignal = () => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      act.first();
    } else if (now - firstAt > SAME_SIGNAL_MS) {
      act.second();
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // If the terminal is closed, writing to it fails. The error must not prevent an orderly shutdown.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
