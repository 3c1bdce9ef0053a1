import { voteBody } from '../../delivery/http/http-message.ts';
import { nameKindOf } from '../../games/player-names.ts';
import { t } from '../../language/t.ts';
import { COOLDOWN_HOURS } from '../../votes/cast/cooldown.ts';
import { vrcFile } from '../../votes/claims/vrc-file.ts';
import { publicPath } from '../shared/server-paths.ts';
import { type ConnectBlock, type Connected, NO_KEY } from './connect-block.ts';
import { contractBlocks } from './connect-contracts.ts';

/** Whether the relay is shown outside “Other plugins”: for Minecraft, and for servers that fetch their votes. */
export function usesRelay({ server: { game }, listener }: Connected): boolean {
  return listener?.protocol === 'fetch' || (game?.startsWith('minecraft') ?? false);
}

/** `first` has the configurations that fit the server's game. */
export function blocksOf(connected: Connected): { first: ConnectBlock[]; others: ConnectBlock[] } {
  const { game } = connected.server;
  const all = [votingPlugin, easyVote, voteReward, plainHttp, signedHttp, ...contractBlocks].map((block) =>
    block(connected),
  );
  const fitting = (id: string) => {
    if (game?.startsWith('minecraft') || game?.startsWith('mbe'))
      return ['voting-plugin', 'vote-reward'].includes(id);
    if (nameKindOf(game) === 'steam') return id === 'easy-vote';
    return ['plain-http', 'signed-http'].includes(id);
  };
  return { first: all.filter(({ id }) => fitting(id)), others: all.filter(({ id }) => !fitting(id)) };
}

function votingPlugin({ name, url, server, listener }: Connected): ConnectBlock {
  const site = name.replace(/[^A-Za-z0-9]/g, '') || 'Tallyport';
  const service = JSON.stringify(listener?.serviceName ?? name);
  return {
    id: 'voting-plugin',
    title: t('VotingPlugin with NuVotifier (Minecraft: Java Edition)'),
    way: 'push',
    about: t(
      'Add this to VoteSites.yml of VotingPlugin. NuVotifier receives the votes: enter its host, port and token under “Vote listener”.',
    ),
    text: `VoteSites:
  ${site}:
    Enabled: true
    Name: ${JSON.stringify(name)}
    ServiceSite: ${service}
    VoteURL: ${JSON.stringify(`${url}${publicPath(server, '/vote')}?username=%player%`)}
    VoteDelay: 24`,
  };
}

function easyVote({ name, url, server, key }: Connected): ConnectBlock {
  const json = {
    'Server Voting IDs and Keys': { [server.name]: { [name]: `${server.slug}:${key ?? NO_KEY}` } },
    'Voting Sites API Information': {
      [name]: {
        'API Claim Reward (GET URL)': `${url}/api/?action=custom&object=plugin&element=reward&key={0}&steamid={1}`,
        'API Vote status (GET URL)': `${url}/api/?object=votes&element=claim&key={0}&steamid={1}`,
        'Vote link (URL)': `${url}/servers/{0}/vote`,
        'Site Uses Username Instead of Player Steam ID?': 'false',
      },
    },
  };
  return {
    id: 'easy-vote',
    title: t('EasyVote (Rust: Oxide, Carbon)'),
    way: 'claim',
    about: t(
      'Add these entries to the two sections of the same names in EasyVote’s configuration. Players vote with their SteamID64 as their name.',
    ),
    text: JSON.stringify(json, null, 2),
  };
}

function voteReward({ name, url, server, key }: Connected): ConnectBlock {
  const vrc = vrcFile({ name, url }, `${url}${publicPath(server)}`, key ?? NO_KEY);
  return {
    id: 'vote-reward',
    title: t('VoteReward (PocketMine)'),
    way: 'claim',
    about: t(
      'Save this as a file that ends with .vrc in the folder Lists of VoteReward’s data folder (plugin_data/VoteReward/Lists).',
    ),
    text: JSON.stringify(vrc, null, 2),
  };
}

function plainHttp({ url, key }: Connected): ConnectBlock {
  const address = (action: string) => `"${url}/api/?action=${action}&key=${key ?? NO_KEY}&username=Steve"`;
  return {
    id: 'plain-http',
    title: t('Any plugin that can read a web address'),
    way: 'claim',
    about: t(
      'The first address answers 0 (no vote in {hours} hours), 1 (voted, not claimed) or 2 (claimed). The second one claims the vote: 1 means “reward the player now”.',
      { hours: COOLDOWN_HOURS },
    ),
    text: `curl ${address('status')}\ncurl ${address('claim')}`,
  };
}

function signedHttp({ server }: Connected): ConnectBlock {
  return {
    id: 'signed-http',
    title: t('Your own web service (signed HTTP request)'),
    way: 'push',
    about: t(
      'Under “Vote listener” choose HTTP and enter the address of your service. Each vote arrives as a POST request, signed as Standard Webhooks describes; the secret is shown once. The TypeScript client verifies the signature.',
    ),
    text: JSON.stringify(JSON.parse(voteBody(EXAMPLE, server._id.toHexString())), null, 2),
  };
}

const EXAMPLE = {
  id: '01998a3e-7e4b-7000-8000-0123456789ab',
  username: 'Steve',
  votedAt: new Date('2026-11-21T08:00:00Z'),
};
