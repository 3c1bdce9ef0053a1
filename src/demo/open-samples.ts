import type { AppDeps } from '../process/app-deps.ts';
import { issueToken } from '../servers/api-tokens.ts';
import { listSample, pointListener, samplesListed } from './list-samples.ts';
import type { Caller } from './live-calls.ts';
import type { SampleAddress } from './open-fake-server.ts';
import type { ListedSample } from './sample-days.ts';
import { type DemoEvents, openSampleListener, type SampleListener } from './sample-listeners.ts';
import { SAMPLES } from './samples.ts';
import type { VotifierListener } from './votifier-listener.ts';

/**
 * The number of servers at the start of the list that have a vote listener. Made-up players vote for them while the
 * demo runs.
 */
const VOTED_FOR = 4;

/** A sample server with a vote listener. */
type VotedFor = Caller & SampleListener;

/** The sample servers of a running demo. */
export type OpenSamples = { listed: ListedSample[]; votedFor: VotedFor[]; reporting: Caller[] };

/**
 * Lists all sample servers, or finds those of an earlier demo, and starts the vote listeners of the first `VOTED_FOR`.
 *
 * @param addresses - the addresses of the sample servers, in the order of `SAMPLES`
 */
export async function openSamples(
  deps: AppDeps,
  addresses: SampleAddress[],
  events: DemoEvents,
  signal: AbortSignal,
): Promise<OpenSamples> {
  const known = await samplesListed(deps);
  const listed: ListedSample[] = [];
  for (const [index, address] of addresses.entries()) {
    const sample = SAMPLES[index];
    if (sample) listed.push(await listSample(deps, known, sample, address));
  }
  const caller = async (one: ListedSample): Promise<Caller> => {
    const { token } = await issueToken(deps, { serverId: one.serverId, name: 'demo' });
    return { ...one, token };
  };
  const votedFor = async (one: ListedSample): Promise<VotedFor> => {
    const point = (listener: VotifierListener) => pointListener(deps, one.serverId, listener);
    const opened = await openSampleListener(one.sample.name, events, signal, point);
    await point(opened.listener);
    return { ...opened, ...(await caller(one)) };
  };
  const reporting = listed.filter(({ sample }) => sample.kind === 'reporting');
  return {
    listed,
    votedFor: await Promise.all(listed.slice(0, VOTED_FOR).map(votedFor)),
    reporting: await Promise.all(reporting.map(caller)),
  };
}
