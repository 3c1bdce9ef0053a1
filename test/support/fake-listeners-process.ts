/**
 * A process with many fake listeners: vote listeners that answer, and ports that accept connections and send no
 * greeting. `startFakeListeners` (fake-listeners.ts) starts it and sends it the plan and the commands.
 */
import net from 'node:net';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import type { FakeOrder, FakePlan, FakeReport } from './fake-listeners.ts';

const plan = JSON.parse(process.argv[2] ?? '{}') as FakePlan;

/** A greeting that is never complete. */
const DRIP = 'VOTIFIER 2 '.padEnd(200, 'x');
const DRIP_MS = 1_000;

const silent = { open: 0, peak: 0, total: 0 };

/** Accepts connections and sends nothing. Every `dripEvery`th connection gets one byte of a greeting per second. */
function neverGreets(): net.Server {
  const { dripEvery = 0 } = plan.silent ?? {};
  return net.createServer((socket) => {
    silent.open += 1;
    silent.total += 1;
    // Count in the next turn of the event loop: connections that ended before this one may be reported later in the
    // same turn.
    setImmediate(() => {
      silent.peak = Math.max(silent.peak, silent.open);
    });
    let said = 0;
    const drips = dripEvery > 0 && silent.total % dripEvery === 0;
    const timer = drips ? setInterval(() => socket.write(DRIP[said++] ?? 'x'), DRIP_MS) : undefined;
    let isOpen = true;
    const leave = () => {
      if (isOpen) silent.open -= 1;
      isOpen = false;
      clearInterval(timer);
    };
    socket
      .on('error', () => socket.destroy())
      .on('end', leave)
      .on('close', leave);
    socket.resume();
  });
}

async function listening(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) =>
    server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve),
  );
  return (server.address() as net.AddressInfo).port;
}

const listeners = Array.from({ length: plan.listeners?.count ?? 0 }, (_, index) => {
  const listener = new VotifierListener({
    tokens: { default: plan.token },
    onVote: ({ uuid }) => {
      if (plan.listeners?.report) process.send?.({ kind: 'vote', index, voteId: uuid });
    },
  });
  listener.behaviour = { answerDelayMs: plan.listeners?.answerDelayMs ?? 0 };
  return listener;
});

function report(): FakeReport {
  const received = listeners.map(({ votes }) => ({
    votes: votes.length,
    firstAt: votes[0]?.receivedAt.getTime() ?? null,
    lastAt: votes.at(-1)?.receivedAt.getTime() ?? null,
  }));
  return { kind: 'report', received, silent: { ...silent } };
}

async function carryOut(order: FakeOrder): Promise<void> {
  const listener = 'index' in order ? listeners[order.index] : undefined;
  if (order.kind === 'stop') await listener?.stop();
  if (order.kind === 'start') await listener?.start();
  if (order.kind === 'forget' && listener) listener.votes.length = 0;
  process.send?.(order.kind === 'report' ? report() : { kind: 'done' });
}

for (const listener of listeners) await listener.start();
const silentPorts: number[] = [];
for (let n = 0; n < (plan.silent?.ports ?? 0); n += 1) silentPorts.push(await listening(neverGreets()));
process.on('message', (order: FakeOrder) => void carryOut(order));
process.on('disconnect', () => process.exit());
process.send?.({ kind: 'ports', ports: listeners.map(({ port }) => port), silentPorts });
