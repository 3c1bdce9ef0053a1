/**
 * Compares the cost of an attempt's log line and signature with the simplest implementation, in turn:
 *
 *   node bench/delivery/per-attempt.ts [rounds]
 *
 * The log line is compared with pino without a search for secrets, the frame signed with a listener's key object with one
 * whose key is made from the token each time.
 */
import { Writable } from 'node:stream';
import { UUID } from 'mongodb';
import { pino } from 'pino';
import { logOutcome } from '../../src/delivery/drain/attempts-under-way.ts';
import { tokenKey, v2Frame } from '../../src/delivery/votifier/votifier-v2.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import { createLogger } from '../../src/platform/log.ts';
import { median } from './figures.ts';

const [rounds = 9] = process.argv.slice(2).map(Number);
const CALLS = 20_000;
const TOKEN = 'a-token-of-this-bench';

const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
const ids = { jobId: '1', serverId: '0123456789abcdef01234567', listenerId: '0123456789abcdef01234567' };
const ours = createLogger({ LOG_LEVEL: 'info' }, 'worker', nowhere).child(ids);
const bare = pino({ base: { process: 'worker' }, timestamp: pino.stdTimeFunctions.isoTime }, nowhere).child(
  ids,
);
const claimed = {
  vote: { _id: new UUID(), delivery: { attemptCount: 1 } },
  attempt: { protocol: 'votifier-v2', test: false },
} as Parameters<typeof logOutcome>[1];
const end = outcome('acknowledged', 'acknowledged');
const vote = { id: `${claimed.vote._id}`, username: 'Steve', votedAt: new Date() };
const signing = { serviceName: 'Tallyport', challenge: 'a-challenge-of-26-characters' };
const key = tokenKey(TOKEN);

const WAYS = {
  'log line, ours': () => logOutcome(ours, claimed, end, 3),
  'log line, bare': () => logOutcome(bare as typeof ours, claimed, end, 3),
  'frame, key of the listener': () => v2Frame(vote, { ...signing, key }),
  'frame, key made each time': () => v2Frame(vote, { ...signing, key: tokenKey(TOKEN) }),
};

console.log(`node bench/delivery/per-attempt.ts ${rounds}`);
const times = new Map<string, number[]>();
for (let round = 0; round <= rounds; round += 1) {
  for (const [name, call] of Object.entries(WAYS)) {
    const began = process.cpuUsage();
    for (let n = 0; n < CALLS; n += 1) call();
    const { user, system } = process.cpuUsage(began);
    // The first round warms up.
    if (round > 0) times.set(name, [...(times.get(name) ?? []), (user + system) / CALLS]);
  }
}
const of = (name: keyof typeof WAYS) => median(times.get(name) ?? []);
for (const name of times.keys()) console.log(`${name}: ${of(name as keyof typeof WAYS).toFixed(2)} µs`);
console.log(`log line, ours ÷ bare: ${(of('log line, ours') / of('log line, bare')).toFixed(2)}`);
console.log(
  `frame, key of the listener ÷ made each time: ${(of('frame, key of the listener') / of('frame, key made each time')).toFixed(2)}`,
);
