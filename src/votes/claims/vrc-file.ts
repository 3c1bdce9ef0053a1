/**
 * The `.vrc` file of VoteReward (PocketMine): the URLs at which this plugin checks and claims votes. The plugin
 * replaces `{USERNAME}` with the player's name, URL-encoded.
 */
export type VrcFile = { name: string; website: string; check: string; claim: string };

/** The file for a claim key. `listing.url` has no slash at the end; `page` is the URL of the server's page. */
export function vrcFile(listing: { name: string; url: string }, page: string, key: string): VrcFile {
  const address = `${listing.url}/api/vrc?key=${key}&username={USERNAME}`;
  return { name: listing.name, website: page, check: address, claim: `${address}&action=claim` };
}
