/** The `.vrc` file of VoteReward (PocketMine), which replaces `{USERNAME}` with the player's name, URL-encoded. */
export type VrcFile = { name: string; website: string; check: string; claim: string };

/** `listing.url` has no slash at the end. */
export function vrcFile(listing: { name: string; url: string }, page: string, key: string): VrcFile {
  const address = `${listing.url}/api/vrc?key=${key}&username={USERNAME}`;
  return { name: listing.name, website: page, check: address, claim: `${address}&action=claim` };
}
