import type { UpdateFilter, WithId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, t } from '../language/t.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { longText, shownText } from '../platform/text.ts';
import type { ServersDeps } from './deps.ts';
import { languageOf } from './languages.ts';
import {
  LINKS,
  LONGEST_DESCRIPTION,
  LONGEST_SHORT_TEXT,
  MOST_LANGUAGES,
  MOST_TAGS_OF_A_SERVER,
  type ProfilePart,
  type ProfileTexts,
} from './profile.ts';
import type { Server } from './server.ts';
import { readTags } from './tag-list.ts';

/** In UTF-16 code units, both as entered and after normalisation. */
const LONGEST_LINK = 500;

const absent = z.literal('').transform(() => undefined);
const trimmed = z.string({ error: () => t('must be text') }).transform((value) => value.trim());
const linkRule = defineMessage('must be an address that begins with https://, such as https://example.org');
const inviteRule = defineMessage('must be an invite such as https://discord.gg/AbCdEf');

/** Without a scheme, `https://` is added; `undefined` when empty. */
const link = trimmed.transform((value, context) => {
  if (value === '') return undefined;
  const url = httpsUrl(value);
  if (!url) context.addIssue({ code: 'custom', message: t(linkRule) });
  return url?.href ?? z.NEVER;
});

/** Normalised to one spelling; `undefined` when empty. */
const invite = trimmed.transform((value, context) => {
  if (value === '') return undefined;
  const { host = '', pathname = '' } = httpsUrl(value) ?? {};
  const path = host === 'discord.gg' ? pathname : pathname.replace(/^\/invite(?=\/)/, '');
  const isInvite = host === 'discord.gg' || (/^(www\.)?discord(app)?\.com$/.test(host) && path !== pathname);
  const [, code] = /^\/([\w-]{2,64})\/?$/.exec(path) ?? [];
  if (!isInvite || !code) {
    context.addIssue({ code: 'custom', message: t(inviteRule) });
    return z.NEVER;
  }
  return `https://discord.gg/${code}`;
});

function httpsUrl(text: string): URL | null {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (text.length > LONGEST_LINK || /[\s\p{Cc}\\]/u.test(text) || !URL.canParse(address)) return null;
  const url = new URL(address);
  const { protocol, username, password, hostname, href } = url;
  const hasName = /\.[a-z][a-z0-9-]*$/.test(hostname);
  return protocol === 'https:' && !username && !password && hasName && href.length <= LONGEST_LINK
    ? url
    : null;
}

/** Codes or names, separated by commas, semicolons or line breaks. */
const languages = trimmed.transform((value, context) => {
  const names = value.split(/[,;\n]/).map((name) => name.trim());
  const codes = new Set<string>();
  for (const name of names.filter(Boolean)) {
    const code = languageOf(name);
    if (code) codes.add(code);
    else
      context.addIssue({
        code: 'custom',
        message: t('“{name}” is not a known language.', { name: name.slice(0, 40) }),
      });
  }
  if (codes.size > MOST_LANGUAGES)
    context.addIssue({ code: 'custom', message: t('must be at most {most}', { most: MOST_LANGUAGES }) });
  return [...codes];
});

const profileInput = z.object({
  shortText: trimmed.pipe(z.union([absent, shownText(LONGEST_SHORT_TEXT)])),
  description: longText(LONGEST_DESCRIPTION),
  tags: z
    .array(z.string())
    .transform((tags) => [...new Set(tags)])
    .refine((tags) => tags.length <= MOST_TAGS_OF_A_SERVER, {
      error: () => t('must be at most {most}', { most: MOST_TAGS_OF_A_SERVER }),
    }),
  languages,
  website: link,
  discord: invite,
  store: link,
  rules: link,
  video: link,
});

/** An empty text or list removes its field. */
export type ProfileInput = z.input<typeof profileInput>;

type Fields = keyof ProfileTexts;
const FIELDS: Fields[] = ['shortText', 'description', 'tags', 'languages', ...LINKS];

/** @throws {InvalidDocumentError} with one sentence for each wrong field */
export async function readProfile({ tagLists }: ServersDeps, input: ProfileInput): Promise<ProfileTexts> {
  const data = parseInput(profileInput, input);
  const known = new Set((await readTags({ tagLists })).map(({ key }) => key));
  const unknown = data.tags.find((tag) => !known.has(tag));
  if (unknown !== undefined)
    throw new InvalidDocumentError({
      tags: t('“{tag}” is no longer in the list of tags.', { tag: unknown.slice(0, 40) }),
    });
  return Object.fromEntries(
    Object.entries(data).filter(([, value]) => value !== undefined && value.length > 0),
  );
}

/**
 * The pictures do not change. If an operator had removed a part and the owner sets it again, the operator's reason is
 * deleted.
 *
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function setProfile(deps: ServersDeps, server: WithId<Server>, input: ProfileInput, by: string) {
  const texts = await readProfile(deps, input);
  const before: ProfileTexts = server.profile ?? {};
  const changed = FIELDS.filter((field) => String(before[field] ?? '') !== String(texts[field] ?? ''));
  if (changed.length === 0) return;
  const changes = changesOf(texts, changed, deps.clock.now());
  const { matchedCount } = await deps.servers.updateOne({ _id: server._id, removedAt: null }, changes);
  if (matchedCount === 0) return;
  await recordAudit(deps, { by, action: 'server.profile', serverId: server._id, details: { changed } });
}

function changesOf(texts: ProfileTexts, changed: Fields[], changedAt: Date): UpdateFilter<Server> {
  const isSet = (field: Fields) => texts[field] !== undefined;
  const pathsOf = (fields: Fields[], value: (field: Fields) => unknown) =>
    Object.fromEntries(fields.map((field) => [`profile.${field}`, value(field)]));
  const set = changed.filter(isSet);
  const unset = changed.filter((field) => !isSet(field));
  return {
    $set: { ...pathsOf(set, (field) => texts[field]), changedAt },
    ...(unset.length > 0 ? { $unset: pathsOf(unset, () => '') } : {}),
    ...(set.length > 0 ? { $pull: { 'profile.removals': { part: { $in: set.map(partOf) } } } } : {}),
  } as UpdateFilter<Server>;
}

/** Null for tags and languages, which operators cannot remove. */
function partOf(field: Fields): ProfilePart | null {
  if (field === 'shortText' || field === 'description') return field;
  return field === 'tags' || field === 'languages' ? null : 'links';
}
