import { gameOf, queryPorts } from '../games/games.ts';
import { SampleGameServer } from './game-server.ts';
import type { FakeServer, GameStatus } from './listening.ts';
import { samplePlayersAt } from './sample-days.ts';
import { sampleIcon } from './sample-pictures.ts';
import type { Sample } from './samples.ts';
import { answerOfBedrock, answerOfSource, UdpGameServer } from './udp-game-server.ts';

export type SampleAddress = {
  address: string;
  port: number;
  queryPort: number | null;
  /** Of Geyser. */
  secondAddress?: string;
  secondPort?: number;
  geyser?: FakeServer;
  /** Absent if no fake server answers at the address. */
  fakeServer?: FakeServer;
};

/** Error codes: the address is in use or not allowed, or this machine has no loopback address except 127.0.0.1. */
const ADDRESS_UNAVAILABLE = ['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES'];

const ANY_PORT = 25_565;

/**
 * Starts the fake server of a sample that is probed, on an address that is the same in every demo. If it is not
 * available, uses a free port of 127.0.0.1. `number`, 1 to 254, is the last part of the address.
 */
export async function openFakeServer(sample: Sample, number: number): Promise<SampleAddress> {
  const host = `127.1.0.${number}`;
  const port = sample.port ?? usualPort(sample.game);
  if (sample.game === null || sample.kind !== 'probed') return { address: host, port, queryPort: null };
  const icon = sample.game === 'minecraft' ? { icon: await sampleIcon(sample.name) } : {};
  const fakeServer = fakeServerFor(sample, icon);
  const [queried] = queryPorts({ port, queryPort: null }, gameOf(sample.game));
  try {
    await fakeServer.start({ host, port: queried ?? port });
    return { address: host, port, queryPort: null, fakeServer, ...(await openGeyser(sample, host)) };
  } catch (error) {
    if (!ADDRESS_UNAVAILABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  await fakeServer.start();
  return { address: '127.0.0.1', port: fakeServer.port, queryPort: fakeServer.port, fakeServer };
}

const BEDROCK_PORT = 19_132;

/** Without it, the sample has one address. */
async function openGeyser(sample: Sample, host: string): Promise<Partial<SampleAddress>> {
  if (!sample.hasGeyser) return {};
  const geyser = new UdpGameServer(answerOfBedrock, statusOf({ ...sample, game: 'mbe' }));
  try {
    await geyser.start({ host, port: BEDROCK_PORT });
  } catch (error) {
    if (!ADDRESS_UNAVAILABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return {};
  }
  return { secondAddress: host, secondPort: BEDROCK_PORT, geyser };
}

function usualPort(game: string | null): number {
  return (game === null ? null : gameOf(game).port) ?? ANY_PORT;
}

/** Added to the message of each game's sample servers, so that users recognise them as samples. */
const MARKS: Record<string, string> = {
  minecraft: '\n§8A sample, made up by Tallyport’s demo',
  mbe: ' §8(sample)',
};

export function messageOf({ game, motd }: Sample): string {
  return `${motd}${MARKS[game ?? ''] ?? ' (sample)'}`;
}

function statusOf(sample: Sample, icon: { icon?: string } = {}): () => GameStatus {
  return () => ({
    motd: messageOf(sample),
    version: sample.version,
    online: samplePlayersAt(sample, new Date()),
    max: sample.activity.slots,
    ...icon,
  });
}

function fakeServerFor(sample: Sample, icon: { icon?: string }): FakeServer {
  const status = statusOf(sample, icon);
  if (sample.game === 'minecraft') return new SampleGameServer(status);
  return new UdpGameServer(sample.game === 'mbe' ? answerOfBedrock : answerOfSource, status);
}
