import type { ObjectId } from 'mongodb';
import type { AppDeps } from '../process/app-deps.ts';
import { setProfile } from '../servers/edit-profile.ts';
import { uploadBanner } from '../servers/profile-pictures.ts';
import type { Sample } from './sample.ts';
import { sampleBanner } from './sample-pictures.ts';

type SampleProfile = {
  shortText: string;
  /** Tag keys, separated by spaces. */
  tags: string;
  languages: string;
  description?: string;
  /** Whether the server has a website, a Discord invite, a store and rules. */
  hasLinks?: boolean;
};

const profile = (
  shortText: string,
  tags: string,
  languages: string,
  more: Pick<SampleProfile, 'description' | 'hasLinks'> = {},
): SampleProfile => ({ shortText, tags, languages, ...more });

/** The profiles by the sample's name. Some samples have none, to show how a page looks without a profile. */
const PROFILES: Record<string, SampleProfile> = {
  'Harbour Lights': profile(
    'Quiet survival on a thousand islands, each with its own lighthouse.',
    'survival smp economy vanilla family-friendly',
    'English, Norwegian',
    {
      hasLinks: true,
      description: `## Come ashore
Harbour Lights is a **survival** server that has run since 2014 on one map. You get a boat, a lantern and an island nobody has named yet.

- Land claims, a player-run market and *no* pay to win
- A ferry line between the old harbours, kept by players
- Festivals at every solstice

> “I came for a weekend and built a post office.”

### Before you join
1. Read the rules; they fit on one page.
2. Say hello in the harbour. Somebody shows you around.`,
    },
  ),
  'Ember Keep': profile(
    'Towns, quests and one very patient dragon.',
    'towny quests pvp roleplay',
    'German, English',
    {
      hasLinks: true,
      description: `## A new season every spring
Found a town, hold it, and take part in the **siege** on the first Saturday of each month.

- Over 60 hand-written quests
- Balanced PvP: \`/duel\` anywhere, war only by agreement
- The hoard is shared: each vote adds to it`,
    },
  ),
  'Saltmarsh Skyblock': profile(
    'One island. One goat. Good luck.',
    'skyblock economy casual',
    'Dutch, English',
    {
      description:
        'Classic **skyblock** with small islands and a big market. Seasons last half a year, and your goat moves with you.',
    },
  ),
  'Pixelforge Network': profile(
    'Skywars, duels and build battles for players on any version.',
    'minigames pvp casual cross-play',
    'English, Spanish',
    {
      hasLinks: true,
      description:
        '## Twelve games, one lobby\nQueue alone or with friends. **No** waiting longer than a minute in the evening.',
    },
  ),
  'Château de la Brume': profile(
    'Jeu de rôle médiéval, intrigues et brouillard.',
    'roleplay quests whitelist',
    'French',
    {
      description:
        '## Le pont-levis est baissé\nÉcrivez un personnage, choisissez une maison et *gardez vos secrets*.',
    },
  ),
  さくら村: profile('のんびり建築できる小さな村です。', 'building casual family-friendly', 'Japanese', {
    description: '## ようこそ\n四季のある村で、**ゆっくり**家を建てましょう。初心者も歓迎します。',
  }),
  'Ironvale Anarchy': profile('No rules, no resets, no mercy.', 'anarchy hardcore pvp', 'Polish, English'),
  'Terra Brasilis': profile(
    'Factions, economia e eventos todo sábado.',
    'factions economy pvp',
    'Portuguese',
    { hasLinks: true },
  ),
  'مملكة البحر': profile('مغامرات وبناء على شواطئ بعيدة.', 'adventure building survival', 'Arabic'),
  Cobblebrook: profile(
    'Whitelisted, kind and slow: a village for grown-ups.',
    'whitelist vanilla smp',
    'English',
  ),
  'Voxel Academy': profile(
    'Learn redstone from people who like explaining it.',
    'creative family-friendly',
    'English, French',
  ),
  'Nightfall Prison': profile('Mine, rank up, break out.', 'prison economy', 'English'),
  'Der Kleine Hof': profile('Gemütliches Survival mit Markttag am Sonntag.', 'survival casual', 'German'),
  'Outback Factions': profile('Factions with drop bears.', 'factions pvp', 'English'),
  'Lumen Creative': profile(
    'Plots of 1,000 × 1,000 blocks and patient judges.',
    'creative building',
    'English, Swedish',
  ),
  'Kızıl Kale': profile('Savaş, ticaret ve kızıl surlar.', 'factions economy pvp', 'Turkish'),
  'Paper Lantern': profile('등불 아래에서 만나요.', 'survival smp', 'Korean'),
  'Pocket Reef': profile(
    'Bedrock survival for phones, with gentle mobs.',
    'survival cross-play casual',
    'English',
  ),
  'Monsoon Craft': profile('PvE farms and a festival each month.', 'pve survival', 'English, Hindi'),
  'Isla Coral': profile('Supervivencia tranquila, sin prisas.', 'survival casual', 'Spanish'),
  'Rusty Anchor 2x Weekly': profile('Twice the loot, weekly wipe on Thursday.', 'pvp', 'German, English'),
  'Longhouse of the North': profile(
    'Ten seats at a long table, one boss a week.',
    'pve co-op',
    'Danish, English',
  ),
  'Harbour City DarkRP': profile('A serious city with funny jobs.', 'roleplay', 'English'),
  'Last Bus to Louisville': profile(
    'Slow zombies, long nights, shared soup.',
    'pve hardcore roleplay',
    'English',
  ),
  'Factorio: The Long Belt': profile(
    'One factory, no biters, many engineers.',
    'building co-op casual',
    'Czech, English',
  ),
};

/** The samples with a banner. The others have none, to show how a list looks then. */
const WITH_BANNER = [
  'Harbour Lights',
  'Ember Keep',
  'Pixelforge Network',
  'Terra Brasilis',
  'Château de la Brume',
  'مملكة البحر',
  'Nightfall Prison',
  'Lumen Creative',
  'Rusty Anchor 2x Weekly',
  'Longhouse of the North',
];

/** Writes the profile of a sample and draws its banner. If an earlier demo did that, nothing is changed. */
export async function writeSampleProfile(
  deps: AppDeps,
  serverId: ObjectId,
  { name }: Pick<Sample, 'name'>,
  by: string,
): Promise<void> {
  const written = PROFILES[name];
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  if (!written || !server) return;
  if (!server.profile?.shortText) {
    const { shortText, description = '', tags, languages, hasLinks = false } = written;
    const site = `https://${server.slug}.example.org`;
    const links = hasLinks
      ? {
          website: site,
          discord: 'https://discord.gg/a-sample-invite',
          store: `${site}/store`,
          rules: `${site}/rules`,
        }
      : { website: '', discord: '', store: '', rules: '' };
    const input = { shortText, description, tags: tags.split(' '), languages, ...links, video: '' };
    await setProfile(deps, server, input, by);
  }
  if (WITH_BANNER.includes(name) && !server.profile?.banner && !server.profile?.bannerUpload)
    await uploadBanner(deps, server, await sampleBanner(name), by);
}
