import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../src/platform/clock.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import type { Fault } from './plan.ts';
import type { ControlledProcess } from './process-control.ts';

/** Injects one fault and ends it after `lasting` milliseconds. `which` selects its target. */
export type Inject = (fault: Pick<Fault, 'lasting' | 'which'>) => Promise<void>;

/** Selects the target of a fault by a random number. */
type Choose<T> = (which: number) => T | Promise<T>;

export function pick<T>(list: T[], which: number): T {
  return list[which % list.length] as T;
}

/** SIGKILL, and a new start when the fault ends. */
export function killing(choose: Choose<ControlledProcess>): Inject {
  return async ({ lasting, which }) => {
    const victim = await choose(which);
    await during(lasting, victim.kill, victim.start);
  };
}

/** SIGSTOP, and SIGCONT when the fault ends. */
export function stopping(choose: Choose<ControlledProcess>): Inject {
  return async ({ lasting, which }) => {
    const victim = await choose(which);
    await during(lasting, victim.stop, victim.resume);
  };
}

/** A fault of a connection, which is restored when the fault ends. */
export function onLine(choose: Choose<FaultProxy>, begin: (line: FaultProxy) => unknown): Inject {
  return async ({ lasting, which }) => {
    const line = await choose(which);
    await during(lasting, () => begin(line), line.restore);
  };
}

export async function during(lasting: number, begin: () => unknown, mend: () => unknown): Promise<void> {
  await begin();
  await pause(lasting);
  await untilMended(mend);
}

/** For a moment another process may have the port that a service or listener needs again. */
export async function untilMended(mend: () => unknown): Promise<void> {
  const deadline = performance.now() + 10 * SECOND;
  for (;;) {
    try {
      await mend();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(200);
    }
  }
}
