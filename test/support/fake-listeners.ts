import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** The fake listeners that a process starts. */
export type FakePlan = {
  /** The token of every listener. */
  token: string;
  /** Vote listeners that greet and answer. With `report`, each received vote is reported at once. */
  listeners?: { count: number; answerDelayMs?: number; report?: boolean };
  /** Ports that accept connections and send no greeting. Every `dripEvery`th connection gets a byte per second. */
  silent?: { ports: number; dripEvery?: number };
};

export type FakeOrder = { kind: 'start' | 'stop' | 'forget'; index: number } | { kind: 'report' };

/** What the fake listeners received. Times are those of the system clock. */
export type FakeReport = {
  kind: 'report';
  received: { votes: number; firstAt: number | null; lastAt: number | null }[];
  /** The connections to the silent ports: open now, the maximum at a time, and in total. */
  silent: { open: number; peak: number; total: number };
};

type Message =
  | { kind: 'ports'; ports: number[]; silentPorts: number[] }
  | { kind: 'vote'; index: number; voteId: string }
  | { kind: 'done' }
  | FakeReport;

/** Fake listeners in a process of their own. */
export type FakeListeners = {
  pid: number;
  ports: number[];
  silentPorts: number[];
  /**
   * `stop` drops a listener's connections and refuses new ones; `start` opens it again; `forget` deletes the record of
   * its votes.
   */
  stop(index: number): Promise<void>;
  start(index: number): Promise<void>;
  forget(index: number): Promise<void>;
  report(): Promise<FakeReport>;
  /** Registers a function that is called for every vote that a listener receives, if the plan has `report`. */
  onVote(listen: (voteId: string) => void): void;
  close(): Promise<void>;
};

/** Starts the process and waits until its listeners accept connections. */
export async function startFakeListeners(plan: FakePlan): Promise<FakeListeners> {
  const child = fork(new URL('fake-listeners-process.ts', import.meta.url), [JSON.stringify(plan)]);
  const opened = await receive(child, 'ports');
  // The promise of the last command. Commands run one after another, because an answer does not say to which command it
  // belongs.
  let last: Promise<unknown> = Promise.resolve();
  const ask = <K extends 'done' | 'report'>(order: FakeOrder, answer: K) => {
    const asked = last.then(() => {
      const answered = receive(child, answer);
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
    onVote(listen) {
      child.on('message', (message: Message) => {
        if (message.kind === 'vote') listen(message.voteId);
      });
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

function receive<K extends Message['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<Message, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`the fake listeners ended before they sent ${kind}`));
    const onMessage = (message: Message) => {
      if (message.kind !== kind) return;
      child.off('message', onMessage).off('exit', onExit);
      resolve(message as Extract<Message, { kind: K }>);
    };
    child.on('message', onMessage).on('exit', onExit);
  });
}
