import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../platform/clock.ts';
import { isSamplePlayer } from './sample-players.ts';
import { type ReceivedVote, VotifierListener } from './votifier-listener.ts';

/** What is told of listeners, by the name of their server. */
export type DemoEvents = {
  /** A vote of a made-up player arrived. */
  arrived(name: string): void;
  /** A vote of somebody else did: of whoever tries the demo. */
  received(name: string, vote: ReceivedVote): void;
  left(name: string, awayMs: number): void;
  returned(name: string): void;
};

/** A vote listener of the demo, which can be away for a while. */
export type SampleListener = {
  listener: VotifierListener;
  /** Stops it for a while; while it is away already, nothing happens. */
  leave(awayMs: number): Promise<void>;
};

/**
 * Opens the vote listener of a sample server.
 *
 * @param moved - called when it came back on another port, because something else has taken its own
 */
export async function openSampleListener(
  name: string,
  told: DemoEvents,
  signal: AbortSignal,
  moved: (listener: VotifierListener) => Promise<void> = async () => undefined,
): Promise<SampleListener> {
  const listener = new VotifierListener({
    onVote(vote) {
      if (isSamplePlayer(vote.username)) told.arrived(name);
      else told.received(name, vote);
    },
  });
  await listener.start();
  let isAway = false;
  return {
    listener,
    async leave(awayMs) {
      if (isAway) return;
      isAway = true;
      await listener.stop();
      told.left(name, awayMs);
      await pause(awayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      if (await comeBack(listener)) await moved(listener);
      isAway = false;
      told.returned(name);
    },
  };
}

/** Starts a listener again, on a free port where something else has taken its own; whether it moved there. */
async function comeBack(listener: VotifierListener): Promise<boolean> {
  try {
    await listener.start();
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    await listener.startElsewhere();
    return true;
  }
}

/** How long a listener is there before it leaves, and how long it is away then. */
type Rhythm = { thereMs: number; awayMs: number };

/** The first time soon, so that nobody waits long to see it. */
export const COMING_AND_GOING: Rhythm[] = [
  { thereMs: 20 * SECOND, awayMs: 20 * SECOND },
  { thereMs: 120 * SECOND, awayMs: 60 * SECOND },
];

/** Has a listener leave and come back, again and again; the last of the rhythm is the one that stays. */
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
