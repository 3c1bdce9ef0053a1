import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** What the process runs. */
export type FakeListenersPlan = {
  /** Of every listener. */
  token: string;
  /** Listeners that greet and answer. `tell`: every vote is told as it comes. */
  listeners?: { count: number; answerDelayMs?: number; tell?: boolean };
  /** Ports that accept and never greet; with `dripEvery` every so-manieth connection gets a byte a second. */
  silent?: { ports: number; dripEvery?: number };
};

export type FakeListenersOrder = { kind: 'start' | 'stop' | 'forget'; index: number } | { kind: 'report' };

/** What the listeners saw. Times are those of the system's clock. */
export type FakeListenersReport = {
  kind: 'report';
  received: { votes: number; firstAt: number | null; lastAt: number | null }[];
  /** Connections to the ports that never greet: open now, the most at once, and all. */
  silent: { open: number; peak: number; total: number };
};

type Told =
  | { kind: 'ports'; ports: number[]; silentPorts: number[] }
  | { kind: 'vote'; index: number; voteId: string }
  | { kind: 'done' }
  | FakeListenersReport;

/** Listeners in a process of their own. */
export type FakeListeners = {
  pid: number;
  ports: number[];
  silentPorts: number[];
  /** Drops a listener's connections and refuses new ones; opens it again; forgets the votes it took. */
  stop(index: number): Promise<void>;
  start(index: number): Promise<void>;
  forget(index: number): Promise<void>;
  report(): Promise<FakeListenersReport>;
  /** Called for every vote that a listener takes, where the plan says `tell`. */
  onVote(heard: (voteId: string) => void): void;
  close(): Promise<void>;
};

/** Starts the process and waits until it listens. */
export async function startFakeListeners(plan: FakeListenersPlan): Promise<FakeListeners> {
  const child = fork(new URL('fake-listeners-process.ts', import.meta.url), [JSON.stringify(plan)]);
  const opened = await told(child, 'ports');
  // One order at a time: an answer says nothing of its question.
  let last: Promise<unknown> = Promise.resolve();
  const ask = <K extends 'done' | 'report'>(order: FakeListenersOrder, answer: K) => {
    const asked = last.then(() => {
      const answered = told(child, answer);
      child.send(order);
      return answered;
    });
    last = asked;
    return asked;
  };
  const order = (kind: 'start' | 'stop' | 'forget') => async (index: number) => {
    await ask({ kind, index }, 'done');
  };
  return {
    pid: child.pid ?? 0,
    ports: opened.ports,
    silentPorts: opened.silentPorts,
    stop: order('stop'),
    start: order('start'),
    forget: order('forget'),
    report: () => ask({ kind: 'report' }, 'report'),
    onVote(heard) {
      child.on('message', (message: Told) => {
        if (message.kind === 'vote') heard(message.voteId);
      });
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

function told<K extends Told['kind']>(child: ChildProcess, kind: K): Promise<Extract<Told, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`the process ended before it told its ${kind}`));
    const onMessage = (message: Told) => {
      if (message.kind !== kind) return;
      child.off('message', onMessage).off('exit', onExit);
      resolve(message as Extract<Told, { kind: K }>);
    };
    child.on('message', onMessage).on('exit', onExit);
  });
}
