import type { ObjectId, UpdateFilter } from 'mongodb';
import { z } from 'zod';
import { t } from '../language/t.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { longText } from '../platform/text.ts';
import type { ServersDeps } from './deps.ts';
import type { Server } from './server.ts';

/** In code points. */
export const LONGEST_HOW_TO_VOTE = 2_000;

const schema = z.object({ howToVote: longText(LONGEST_HOW_TO_VOTE) });

/** @throws {InvalidDocumentError} for a text that is too long or has control characters */
export function readHowToVote(text: string): string {
  return parseInput(schema, { howToVote: text }).howToVote;
}

/**
 * An empty text removes the stored one.
 *
 * @throws {InvalidDocumentError} for a text that is too long or has control characters
 */
export async function setHowToVote(deps: ServersDeps, serverId: ObjectId, text: string, by: string) {
  const howToVote = readHowToVote(text);
  const change = howToVote === '' ? { $unset: { howToVote: '' as const } } : { $set: { howToVote } };
  const details = { characters: [...howToVote].length };
  await changeListed(deps, change, { by, action: 'server.how-to-vote', serverId, details });
}

/** Changes a listed server and records it, unless the change makes no difference. */
async function changeListed(
  deps: ServersDeps,
  change: UpdateFilter<Server>,
  entry: Parameters<typeof recordAudit>[1] & { serverId: ObjectId },
): Promise<void> {
  const listed = { _id: entry.serverId, removedAt: null };
  const { modifiedCount } = await deps.servers.updateOne(listed, change);
  if (modifiedCount > 0) await recordAudit(deps, entry);
}

/** Votes that were already cast do not change. */
export async function switchVoteForm(deps: ServersDeps, serverId: ObjectId, isOn: boolean, by: string) {
  const change = isOn ? { $unset: { webVotes: '' as const } } : { $set: { webVotes: false } };
  await changeListed(deps, change, { by, action: 'server.web-votes', serverId, details: { isOn } });
}

/** In characters. */
export const LONGEST_PREFIX = 5;

/** A check box sends `yes` or nothing. */
const checked = z
  .string()
  .optional()
  .transform((value) => value === 'yes');

const namesSchema = z.object({
  bedrockPrefix: z
    .string()
    .trim()
    .regex(/^[!-~]{0,5}$/, {
      error: () =>
        t('must have at most {max} letters, digits or signs, without a space', { max: LONGEST_PREFIX }),
    }),
  offlineMode: checked,
  bedrockPlain: checked,
  bedrockSpaces: checked,
});

/**
 * The prefix of Bedrock Edition (empty: none of its names), and as `yes` what else is allowed.
 *
 * @throws {InvalidDocumentError} for a prefix that is too long, or has a space or a character outside ASCII
 */
export async function setPlayerNames(
  deps: ServersDeps,
  serverId: ObjectId,
  given: z.input<typeof namesSchema>,
  by: string,
): Promise<void> {
  const { bedrockPrefix, ...boxes } = parseInput(namesSchema, given);
  const playerNames = Object.fromEntries(Object.entries(boxes).filter(([, isChecked]) => isChecked));
  const hasNames = Object.keys(playerNames).length > 0;
  // The default is stored too: without a prefix, the owner has not chosen (votes/identity/player-name.ts).
  const change = hasNames
    ? { $set: { bedrockPrefix, playerNames } }
    : { $set: { bedrockPrefix }, $unset: { playerNames: '' as const } };
  const details = { bedrockPrefix, ...playerNames };
  await changeListed(deps, change, { by, action: 'server.bedrock-prefix', serverId, details });
}

/** Whether the vote form takes only SteamIDs that Steam confirmed. Votes through the API are not affected. */
export async function requireProvenId(
  deps: ServersDeps,
  serverId: ObjectId,
  isRequired: boolean,
  by: string,
): Promise<void> {
  const change = isRequired ? { $set: { provenIdOnly: true } } : { $unset: { provenIdOnly: '' as const } };
  await changeListed(deps, change, {
    by,
    action: 'server.proven-id-only',
    serverId,
    details: { isRequired },
  });
}
