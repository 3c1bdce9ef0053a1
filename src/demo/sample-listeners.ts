import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../platform/clock.ts';
import { isSamplePlayer } from './sample-players.ts';
import { type ReceivedVote, VotifierListener } from './votifier-listener.ts';

/** What happens to the vote listeners. `name` is the name of the server. */
export type DemoEvents = {
  /** A vote of a made-up player arrived. */
  arrived(name: string): void;
  /** A vote of another player arrived, usually of the demo's user. */
  received(name: string, vote: ReceivedVote): void;
  left(name: string, awayMs: number): void;
  returned(name: string): void;
  moved(name: string, port: number): void;
  stuck(name: string, reason: string): void;
};

const RETRY_MS = SECOND;

export type SampleListener = {
  listener: VotifierListener;
  /** Does nothing if it is stopped already. */
  leave(awayMs: number): Promise<void>;
};

/** `moved` is called when the listener restarts on another port; retried if it throws. */
export async function openSampleListener(
  name: string,
  events: DemoEvents,
  signal: AbortSignal,
  moved: (listener: VotifierListener) => Promise<void> = async () => undefined,
): Promise<SampleListener> {
  const listener = new VotifierListener({
    onVote(vote) {
      if (isSamplePlayer(vote.username)) events.arrived(name);
      else events.received(name, vote);
    },
  });
  await listener.start();
  let isAway = false;
  let isMoved = false;
  const comeBack = async () => {
    if (!listener.isRunning) isMoved = (await restart(listener)) || isMoved;
    if (!isMoved) return;
    await moved(listener);
    isMoved = false;
    events.moved(name, listener.port);
  };
  return {
    listener,
    async leave(awayMs) {
      if (isAway) return;
      isAway = true;
      await listener.stop();
      events.left(name, awayMs);
      await pause(awayMs, undefined, { signal }).catch(() => undefined);
      while (!signal.aborted) {
        try {
          await comeBack();
          isAway = false;
          events.returned(name);
          return;
        } catch (error) {
          if (!signal.aborted) events.stuck(name, String(error));
          await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
        }
      }
    },
  };
}

async function restart(listener: VotifierListener): Promise<boolean> {
  try {
    await listener.start();
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    await listener.startElsewhere();
    return true;
  }
}

type Rhythm = { thereMs: number; awayMs: number };

/** The first outage comes soon, so that users see it early. */
export const COMING_AND_GOING: Rhythm[] = [
  { thereMs: 20 * SECOND, awayMs: 20 * SECOND },
  { thereMs: 120 * SECOND, awayMs: 60 * SECOND },
];

/** The last entry of `rhythm` repeats. */
export async function comeAndGo(
  { leave }: SampleListener,
  rhythm: Rhythm[],
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    const { thereMs, awayMs } = rhythm[Math.min(round, rhythm.length - 1)] ?? { thereMs: 0, awayMs: 0 };
    await pause(thereMs, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await leave(awayMs);
  }
}
