import type { AppDeps } from '../process/app-deps.ts';
import { issueToken } from '../servers/api-tokens.ts';
import { listSample, pointListener, samplesListed } from './list-samples.ts';
import type { Caller } from './live-calls.ts';
import type { SampleAddress } from './open-fake-server.ts';
import type { ListedSample } from './sample-days.ts';
import { type DemoEvents, openSampleListener, type SampleListener } from './sample-listeners.ts';
import { writeVotifierFolder } from './sample-relay.ts';
import { SAMPLES } from './samples.ts';
import type { VotifierListener } from './votifier-listener.ts';

/** This many servers at the start of the list have a vote listener. Made-up players vote for them. */
const VOTED_FOR = 4;

type VotedFor = Caller & SampleListener;

export type OpenSamples = {
  listed: ListedSample[];
  votedFor: VotedFor[];
  reporting: Caller[];
  /** The one of `votedFor` that the relay serves; null without Java. */
  relayed: VotedFor | null;
};

/**
 * Adds all sample servers to the listing, or finds those of an earlier demo, and starts the vote listeners.
 *
 * @param addresses - in the order of `SAMPLES`
 * @param relayFolder - for the relay, which fetches the votes of the last server with a listener; null without Java
 */
export async function openSamples(
  deps: AppDeps,
  addresses: SampleAddress[],
  events: DemoEvents,
  signal: AbortSignal,
  relayFolder: string | null = null,
): Promise<OpenSamples> {
  const known = await samplesListed(deps);
  const listed: ListedSample[] = [];
  for (const [index, address] of addresses.entries()) {
    const sample = SAMPLES[index];
    if (sample) listed.push(await listSample(deps, known, sample, address));
  }
  const caller = async (one: ListedSample): Promise<Caller> => ({
    ...one,
    token: (await issueToken(deps, { serverId: one.serverId, name: 'demo' })).token,
  });
  const votedFor = async (one: ListedSample): Promise<VotedFor> => {
    const point = (listener: VotifierListener) =>
      relayFolder !== null && one === listed[VOTED_FOR - 1]
        ? writeVotifierFolder(relayFolder, listener)
        : pointListener(deps, one.serverId, listener);
    const opened = await openSampleListener(one.sample.name, events, signal, point);
    await point(opened.listener);
    return { ...opened, ...(await caller(one)) };
  };
  const reporting = listed.filter(({ sample }) => sample.kind === 'reporting');
  const opened = await Promise.all(listed.slice(0, VOTED_FOR).map(votedFor));
  return {
    listed,
    votedFor: opened,
    relayed: relayFolder === null ? null : (opened.at(-1) ?? null),
    reporting: await Promise.all(reporting.map(caller)),
  };
}
