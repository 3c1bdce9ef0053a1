import { dueLiveMessages } from '../../src/events/live-status/due-live-messages.ts';
import { readLiveMessage, setLiveMessage } from '../../src/events/live-status/live-messages.ts';
import { updateLiveMessage } from '../../src/events/live-status/update-live-message.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { WEBHOOK_ADDRESS } from '../support/fake-discord.ts';
import { asShown, discordBench, NEVER } from './discord-bench.ts';

export async function liveBench(env: Record<string, string> = {}) {
  const bench = await discordBench(env);
  const { deps, serverId, discord, clock } = bench;
  const live = () => readLiveMessage(deps, serverId);
  return {
    ...bench,
    live,
    set: () => setLiveMessage(deps, serverId, WEBHOOK_ADDRESS, 'olivia@example.org'),
    /** A run of the worker for the server's present message. */
    async run() {
      const found = await live();
      return found ? (await updateLiveMessage(deps, found._id, NEVER)).end : 'none';
    },
    /** What the scheduler and the workers do in a minute. */
    async minute() {
      const ends: string[] = [];
      for (const _id of await dueLiveMessages(deps)) {
        let update = await updateLiveMessage(deps, _id, NEVER);
        while (update.again && update.again.getTime() - clock.now().getTime() < MINUTE) {
          clock.move(Math.max(update.again.getTime() - clock.now().getTime(), 0));
          update = await updateLiveMessage(deps, _id, NEVER);
        }
        ends.push(update.end);
      }
      return ends;
    },
    async players(onlinePlayers: number) {
      const at = clock.now();
      const probe = { 'probe.status': 'online', 'probe.checkedAt': at, 'probe.succeededAt': at } as const;
      const current = { 'current.onlinePlayers': onlinePlayers, 'current.maxPlayers': 100 };
      await deps.servers.updateOne({ _id: serverId }, { $set: { ...probe, ...current } });
    },
    /** The messages that a reader sees. */
    shown: () =>
      [...discord.shown.values()].map(({ embeds = [] }) => {
        const [embed] = embeds;
        const fields = embed?.fields?.map(({ name, value }) => `${name}: ${asShown(value)}`) ?? [];
        return [asShown(embed?.title), asShown(embed?.description), ...fields].join('\n');
      }),
  };
}

export type LiveBench = Awaited<ReturnType<typeof liveBench>>;
