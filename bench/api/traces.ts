/**
 * Measures the cost of traces for a vote. Compares web processes without traces, with a tenth of them and with all of
 * them, in turn on one mongod and Redis. A collector in this process accepts the spans and discards them. No worker
 * runs.
 *
 *   node bench/api/traces.ts [seconds] [rounds] [connections]
 */
import http from 'node:http';
import { openEnvironment, type Program } from '../delivery/environment.ts';
import { median } from '../delivery/figures.ts';
import { type Measured, openArena } from './arena.ts';
import { listCallers } from './listing.ts';

const [seconds = 3, rounds = 7, connections = 50] = process.argv.slice(2).map(Number);

console.log(`node bench/api/traces.ts ${process.argv.slice(2).join(' ')}`);
let exports = 0;
const collector = http.createServer((request, response) => {
  exports += 1;
  request.resume().on('end', () => response.end());
});
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
const address = collector.address();
const port = address && typeof address === 'object' ? address.port : 0;
const on = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };

const environment = await openEnvironment();
const { deps } = environment;
const callers = await listCallers(deps, 1_000);
const arena = openArena(environment);
const tenth = { ...on, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' };
const sides: Record<string, Program> = {
  off: await environment.web(),
  'a tenth': await environment.web(tenth),
  all: await environment.web(on),
};
const names = Object.keys(sides);
const measured: Record<string, Measured[]> = Object.fromEntries(names.map((name) => [name, []]));

// Round 0 warms up. In the other rounds, each time another program begins.
for (let n = 0; n <= rounds; n += 1) {
  for (let turn = 0; turn < names.length; turn += 1) {
    const name = names[(n + turn) % names.length] ?? '';
    await deps.queues['forward-votes'].obliterate({ force: true });
    const round = {
      endpoint: 'vote',
      connections,
      seconds,
      answers: Number.POSITIVE_INFINITY,
      callers,
    } as const;
    const score = await arena.play(sides[name] as Program, round);
    if (n > 0) measured[name]?.push(score);
  }
}

for (const name of names) {
  const of = (figure: (round: Measured) => number) => median((measured[name] ?? []).map(figure));
  const toOff = (figure: (round: Measured) => number) =>
    median((measured[name] ?? []).map((round, n) => figure(round) / figure(measured.off?.[n] as Measured)));
  const failed = (measured[name] ?? []).reduce((sum, round) => sum + round.failed, 0);
  console.log(
    `${name}: ${of(({ perSecond }) => perSecond).toFixed(0)}/s, web ${of(({ cpu }) => cpu.web).toFixed(0)} µs a vote; ÷ off: votes ${toOff(({ perSecond }) => perSecond).toFixed(2)}, processor time of web ${toOff(({ cpu }) => cpu.web).toFixed(2)}${failed ? `, ${failed} FAILED` : ''}`,
  );
}
console.log(`${exports} exports`);
arena.close();
await environment.close();
collector.close();
