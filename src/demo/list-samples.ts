import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import type { Collections } from '../database/collections.ts';
import { setListener } from '../delivery/change-listener.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { issueToken } from '../servers/api-tokens.ts';
import { setProfile } from '../servers/edit-profile.ts';
import { addServer, editServer } from '../servers/listed-servers.ts';
import { uploadBanner } from '../servers/pictures.ts';
import { setHowToVote } from '../servers/vote-options.ts';
import type { Caller } from './live-calls.ts';
import { messageOf, type SampleAddress } from './open-fake-server.ts';
import type { ListedSample } from './sample-days.ts';
import { type DemoEvents, openSampleListener, type SampleListener } from './sample-listeners.ts';
import { sampleBanner } from './sample-pictures.ts';
import { writeVotifierFolder } from './sample-relay.ts';
import { isDown, SAMPLES, type Sample } from './samples.ts';
import type { VotifierListener } from './votifier-listener.ts';

const BY = 'demo';

/** Elsewhere, the demo would mix made-up servers with real ones, and print an operator’s password. */
export async function isForSamples({
  servers,
  users,
  auditLog,
}: Pick<Collections, 'servers' | 'users' | 'auditLog'>): Promise<boolean> {
  if (await auditLog.findOne({ by: BY })) return true;
  return !(await servers.findOne({})) && !(await users.findOne({}));
}

/** The listed sample servers of earlier demos, by the name under which each was listed. */
export async function samplesListed({ auditLog, servers }: AppDeps): Promise<Map<string, ObjectId>> {
  const added = await auditLog.find({ by: BY, action: 'server.add' }).sort({ at: 1 }).toArray();
  const ids = added.flatMap(({ serverId }) => serverId ?? []);
  const existing = servers.find({ _id: { $in: ids }, removedAt: null }, { projection: { _id: 1 } });
  const there = new Set(await existing.map(({ _id }) => _id.toHexString()).toArray());
  const named = added.flatMap(({ serverId, details }) =>
    serverId && there.has(serverId.toHexString()) ? [[String(details?.name), serverId] as const] : [],
  );
  return new Map(named);
}

/** Lists a sample server. If an earlier demo listed it: updates its address, and adds a missing profile or banner. */
export async function listSample(
  deps: AppDeps,
  known: Map<string, ObjectId>,
  sample: Sample,
  { address, port, queryPort, secondAddress, secondPort }: SampleAddress,
): Promise<ListedSample> {
  const { name, formerName = name, game, countryCode, isPremium, howToVote } = sample;
  const second = secondAddress ? { secondAddress, secondPort } : {};
  const endpoint = { address, port, queryPort, ...second };
  const existing = known.get(formerName);
  if (existing) {
    await editServer(deps, existing, endpoint, BY);
    await writeSampleProfile(deps, existing, sample, BY);
    return { serverId: existing, sample };
  }
  const settings = { name: formerName, game, countryCode, isPremium, ...endpoint };
  const serverId = new ObjectId((await addServer(deps, settings, BY)).serverId);
  if (formerName !== name) await editServer(deps, serverId, { name }, BY);
  // The first probe finds the same MOTD. It is stored now, so that the first ranking already adds it to the search.
  await deps.servers.updateOne({ _id: serverId }, { $set: { 'current.motd': messageOf(sample) } });
  if (howToVote) await setHowToVote(deps, serverId, howToVote, BY);
  await writeSampleProfile(deps, serverId, sample, BY);
  return { serverId, sample };
}

/** Changes a sample's vote listener to the one of this demo, whose port is different at every start. */
export async function pointListener(
  deps: AppDeps,
  serverId: ObjectId,
  { host = '127.0.0.1', port, token }: { host?: string; port: number; token: string },
): Promise<void> {
  const serviceName = deps.config.SERVICE_NAME;
  const address = { protocol: 'votifier-v2', host, port } as const;
  await setListener(deps, serverId, { ...address, secret: token, serviceName, rewards: 'push' }, BY);
}

/** Of an address that only the demo uses. A listener of an earlier demo stays: the user may have corrected it. */
async function pointNowhere(deps: AppDeps, serverId: ObjectId): Promise<void> {
  if (await deps.listeners.findOne({ serverId })) return;
  await pointListener(deps, serverId, {
    host: '127.1.0.3',
    port: 8_192,
    token: randomBytes(16).toString('hex'),
  });
}

/** Writes the profile of a sample and draws its banner, unless an earlier demo did. */
export async function writeSampleProfile(
  deps: AppDeps,
  serverId: ObjectId,
  { name, hasBanner, profile }: Sample,
  by: string,
): Promise<void> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  if (!profile || !server) return;
  if (!server.profile?.shortText) {
    const { shortText, description = '', tags, languages, hasLinks } = profile;
    const site = `https://${server.slug}.example.org`;
    const links = hasLinks
      ? {
          website: site,
          discord: 'https://discord.gg/a-sample-invite',
          store: `${site}/store`,
          rules: `${site}/rules`,
        }
      : { website: '', discord: '', store: '', rules: '' };
    const input = { shortText, description, tags, languages, ...links, video: '' };
    await setProfile(deps, server, input, by);
  }
  if (hasBanner && !server.profile?.banner && !server.profile?.bannerUpload)
    await uploadBanner(deps, server, await sampleBanner(name), by);
}

/** This many servers at the start of the list have a vote listener. Made-up players vote for those that listen. */
const VOTED_FOR = 4;

type VotedFor = Caller & SampleListener;

export type OpenSamples = {
  listed: ListedSample[];
  votedFor: VotedFor[];
  /** Nothing listens at their vote listener's address: their votes wait. */
  down: ListedSample[];
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
  const withListener = listed.slice(0, VOTED_FOR);
  const down = withListener.filter(({ sample }) => isDown(sample));
  for (const { serverId } of down) await pointNowhere(deps, serverId);
  const opened = await Promise.all(withListener.filter((one) => !down.includes(one)).map(votedFor));
  return {
    listed,
    votedFor: opened,
    down,
    relayed: relayFolder === null ? null : (opened.at(-1) ?? null),
    reporting: await Promise.all(reporting.map(caller)),
  };
}
