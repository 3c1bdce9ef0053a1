import { setTimeout as pause } from 'node:timers/promises';
import { type Behaviour, VotifierListener } from '../../src/demo/votifier-listener.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { listServersAt } from '../support/servers.ts';
import { insertWaitingVotes } from '../support/votes.ts';

const LOOK_EVERY_MS = 50;

/** The servers, with their numbers of waiting votes and the behaviour of their listeners. */
const SERVERS: { name: string; votes: number; behaviour: Behaviour | 'stopped' }[] = [
  { name: 'Harbour Lights', votes: 7, behaviour: 'stopped' },
  { name: 'Gravel Pit', votes: 12, behaviour: { onConnect: 'silence' } },
  { name: 'Old Mill', votes: 400, behaviour: { answerDelayMs: 300 } },
];

/**
 * Adds three servers to a running platform: one with a listener that is down, one with a silent listener under test, and
 * one with a listener that drains a backlog. Waits until the queues show all three.
 *
 * @returns a function that stops the listeners
 */
export async function fillQueues(deps: AppDeps): Promise<() => Promise<void>> {
  const listeners = await Promise.all(SERVERS.map((server) => addServer(deps, server)));
  const { 'test-listeners': tests, 'drain-backlogs': backlogs } = deps.queues;
  const isShown = async () =>
    (await tests.getDelayedCount()) > 0 &&
    (await tests.getActiveCount()) > 0 &&
    (await backlogs.getActiveCount()) > 0;
  while (!(await isShown())) await pause(LOOK_EVERY_MS);
  return async () => {
    await Promise.all(listeners.map((listener) => listener.stop()));
  };
}

async function addServer(deps: AppDeps, { name, votes, behaviour }: (typeof SERVERS)[number]) {
  const listener = new VotifierListener();
  await listener.start();
  if (behaviour === 'stopped') await listener.stop();
  else listener.behaviour = behaviour;
  const serverIds = await listServersAt(deps, [listener.port], listener.tokens.default ?? '');
  await deps.servers.updateMany({ _id: { $in: serverIds } }, { $set: { name } });
  await insertWaitingVotes(deps, serverIds, votes);
  return listener;
}
