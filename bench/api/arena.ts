import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpuSeconds, type Environment, type Program } from '../delivery/environment.ts';
import type { Round, Score } from './load.ts';

/** The score of a round, and the CPU time per answer in microseconds. */
export type Measured = Score & { cpu: { web: number; mongod: number; redis: number } };

/** The load generator, in its own process. */
export type Arena = {
  /** One round against `web`. */
  play(web: Program, round: Omit<Round, 'port' | 'name'>): Promise<Measured>;
  close(): void;
};

/** Starts the load generator. */
export function openArena({ mongodPid, redisPid }: Environment): Arena {
  const asker = fork(new URL('load.ts', import.meta.url), { serialization: 'advanced' });
  let rounds = 0;
  return {
    async play(web, round) {
      rounds += 1;
      const port = Number(new URL(web.url).port);
      const pids = [web.pid, mongodPid, redisPid];
      const before = await Promise.all(pids.map(cpuSeconds));
      asker.send({ ...round, port, name: `r${rounds}x` } satisfies Round);
      const [score] = (await once(asker, 'message')) as [Score];
      const used = await Promise.all(pids.map(cpuSeconds));
      const [own = 0, mongod = 0, redis = 0] = used.map((seconds, i) => {
        return ((seconds - (before[i] ?? 0)) * 1e6) / score.answers;
      });
      return { ...score, cpu: { web: own, mongod, redis } };
    },
    close: () => asker.disconnect(),
  };
}
