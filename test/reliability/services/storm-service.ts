import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Binary } from '../../../src/own-services/binary.ts';
import { freePort } from '../../../src/own-services/free-port.ts';
import type { ServiceKind } from '../../../src/own-services/service-process.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import type { Inject } from '../inject.ts';
import { type ControlledProcess, service } from '../process-control.ts';

/** MongoDB or Redis as the processes of a storm use it: one node, or several that take over from each other. */
export type StormService = {
  /** The address for the test itself; a single node is reached without a proxy. */
  address: string;
  /** Opens the connection of one process. */
  connect(): Promise<Connection>;
  /** The faults of its nodes, by name. */
  faults: Record<string, Inject>;
  /** Starts what does not run, resumes what is stopped, and restores every line. */
  mend(): Promise<void>;
  /** How many writes a failover rolled back; only replica sets do that. */
  rolledBack?(): Promise<number>;
  close(): Promise<void>;
};

export type Connection = {
  address: string;
  /**
   * The proxy of the node that accepts writes now. A lone node has a proxy for each process, other nodes have one for
   * all.
   */
  line(): FaultProxy | Promise<FaultProxy>;
};

/** What a service is started with. */
export type ServiceOptions = {
  binary: Binary;
  /** For the data of its nodes. */
  folder: string;
  /** Called when a node ends that was not killed on purpose. */
  died: (what: string) => void;
  /** Added to the command line of each node. */
  args?: string[];
};

/** A node behind a proxy. Other nodes and clients know only the proxy's port. */
export type Node = ControlledProcess & { port: number; line: FaultProxy };

/** A node that is not started yet. `args` are added to its command line. */
export async function openNode(
  kind: ServiceKind,
  { binary, folder, died, args: ofAll = [] }: ServiceOptions,
  {
    name,
    requests,
    args,
  }: { name: string; requests: 'mongodb' | 'chunks'; args: (line: number) => string[] },
): Promise<Node> {
  const port = await freePort();
  const line = await startFaultProxy(port, requests);
  const more = [...args(line.port), ...ofAll];
  const own = { ...kind, args: (dir: string, own: number) => [...kind.args(dir, own), ...more] };
  return { ...service(own, { binary, dir: join(folder, name), port }, died), port, line };
}

/** Repeats a call until there is an answer; undefined after `ms` milliseconds. */
export async function askFor<T>(ms: number, ask: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await pause(50);
  }
  return undefined;
}

/** `mend` and `close` for some nodes. */
export function careOf(nodes: Node[]): Pick<StormService, 'mend' | 'close'> {
  return {
    async mend() {
      for (const node of nodes) node.resume();
      await Promise.all(nodes.map((node) => node.line.restore()));
      await Promise.all(nodes.map((node) => node.start()));
    },
    async close() {
      await Promise.all(nodes.map((node) => node.kill()));
      await Promise.all(nodes.map((node) => node.line.close()));
    },
  };
}
