import { t } from '../../language/t.ts';
import { COOLDOWN_HOURS } from '../../votes/cast/cooldown.ts';
import { type ConnectBlock, type Connected, NO_KEY } from './connect-block.ts';

/** For plugins that know another listing: what to enter in place of its addresses (docs/claims.md). */
export const contractBlocks = [minecraftServerNet, minecraftList, minecraftServersBiz, topServer];

const titleOf = (listing: string) => t('Plugins for {listing}', { listing });

const asJson = () =>
  t(
    'The first address answers in JSON whether the player voted in {hours} hours, and whether the vote is claimed. The second one claims the vote: “claimed”: true means “reward the player now”.',
    { hours: COOLDOWN_HOURS },
  );

function minecraftServerNet({ url, key = NO_KEY }: Connected): ConnectBlock {
  const call = (action: string) => `curl -d "action=${action}&key=${key}&player=Steve" "${url}/api/"`;
  return {
    id: 'minecraft-server-net',
    title: titleOf('minecraft-server.net'),
    way: 'claim',
    about: t(
      'The first call answers 0 (no vote in {hours} hours), 1 (voted, not claimed) or 2 (claimed). The second one claims the vote: 2 means “reward the player now”, 1 that it was claimed before.',
      { hours: COOLDOWN_HOURS },
    ),
    text: `${call('checkVote')}\n${call('setClaimed')}`,
  };
}

function minecraftList({ url, key = NO_KEY }: Connected): ConnectBlock {
  return {
    id: 'minecraft-list',
    title: titleOf('minecraftlist.org'),
    way: 'claim',
    about: asJson(),
    text: `curl "${url}/api/v1/check/${key}/Steve"\ncurl "${url}/api/v1/claim/${key}/Steve"`,
  };
}

function minecraftServersBiz({ url, key = NO_KEY }: Connected): ConnectBlock {
  return {
    id: 'minecraft-servers-biz',
    title: titleOf('minecraftservers.biz'),
    way: 'claim',
    about: asJson(),
    text: `curl "${url}/api/votes/check/${key}/Steve/"\ncurl -X POST "${url}/api/votes/claim/${key}/Steve/"`,
  };
}

function topServer({ url, key = NO_KEY }: Connected): ConnectBlock {
  return {
    id: 'top-server',
    title: titleOf('top-server.net'),
    way: 'claim',
    about: t(
      'The first address answers in JSON whether the player’s vote of the last {hours} hours is pending, which means not claimed. The second one claims it: “claimed”: 1 means “reward the player now”.',
      { hours: COOLDOWN_HOURS },
    ),
    text: `curl "${url}/api/v1/vote/check?key=${key}&player=Steve"\ncurl -d "key=${key}&player=Steve" "${url}/api/v1/vote/claim"`,
  };
}
