/**
 * Measures checks and claims by the ListForge contract at a fixed rate, and, for comparison, at a few calls a second.
 * There is one web process. Half of the calls check and half claim, each for another vote.
 *
 *   node bench/claims/contracts.ts [calls a second] [seconds] [servers]
 *   node bench/claims/contracts.ts 1000 20 20
 */
import autocannon from 'autocannon';
import { ObjectId } from 'mongodb';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { storedVote } from '../../test/support/votes.ts';
import { openEnvironment } from '../delivery/environment.ts';

const [rate = 1_000, seconds = 20, servers = 20] = process.argv.slice(2).map(Number);
const IDLE_RATE = 20;

console.log(`node bench/claims/contracts.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment();
const { deps } = environment;
const votes = Math.ceil((rate + 2 * IDLE_RATE) * seconds * 1.2);
const keys: string[] = [];
const serverIds: ObjectId[] = [];
for (let i = 0; i < servers; i += 1) {
  const listed = { name: `Server ${i}`, address: `s${i}.example.org`, port: 25_565 };
  const serverId = new ObjectId((await addServer(deps, listed, 'bench')).serverId);
  const { token } = await issueToken(deps, { serverId, name: 'bench', kind: 'claim' });
  serverIds.push(serverId);
  keys.push(token);
}
for (let from = 0; from < votes; from += 5_000) {
  const some = Array.from({ length: Math.min(5_000, votes - from) }, (_, i) => {
    const n = from + i;
    return storedVote(serverIds[n % servers] as ObjectId, `player${n}`, new Date());
  });
  await deps.votes.insertMany(some, { ordered: false });
}

const web = await environment.web();
let calls = 0;

/** A call with an odd number claims the vote that the call before it checked. */
function pathOf(n: number): string {
  const player = Math.floor(n / 2);
  const action = n % 2 === 0 ? '' : 'action=post&';
  return `/api/?${action}object=votes&element=claim&key=${keys[player % servers]}&username=player${player}`;
}

async function measure(overallRate: number) {
  const result = await autocannon({
    url: web.url,
    connections: 50,
    overallRate,
    duration: seconds,
    requests: [
      {
        method: 'GET',
        setupRequest(request) {
          const path = pathOf(calls);
          calls += 1;
          return { ...request, path };
        },
      },
    ],
  });
  const { p50, p99, max } = result.latency;
  const failed = result.non2xx + result.errors + result.timeouts;
  console.log(
    `${overallRate}/s: ${result.requests.total} calls in ${result.duration} s, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms, ${failed} failed`,
  );
}

await measure(IDLE_RATE);
await measure(rate);
await measure(IDLE_RATE);
const claimed = await deps.votes.countDocuments({ claim: { $exists: true } });
console.log(`${claimed} votes claimed`);
await environment.close();
