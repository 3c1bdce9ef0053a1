import type { ObjectId } from 'mongodb';
import type { AppDeps } from '../process/app-deps.ts';
import { setProfile } from '../servers/edit-profile.ts';
import { uploadBanner } from '../servers/pictures.ts';
import type { Sample } from './sample.ts';
import { sampleBanner } from './sample-pictures.ts';

/** Writes the profile of a sample and draws its banner. If an earlier demo did that, nothing is changed. */
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
