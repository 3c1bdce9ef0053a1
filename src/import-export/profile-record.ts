import { z } from 'zod';
import type { HistoryDeps } from '../history/deps.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { type ProfileInput, readProfile } from '../servers/edit-profile.ts';
import { LINKS, type Profile, type ProfileTexts } from '../servers/profile.ts';
import { readHowToVote } from '../servers/vote-options.ts';

const profileError = { error: 'must be an object with texts, links and lists of tags and languages' };
const field = z
  .string(profileError)
  .nullish()
  .transform((text) => text ?? '');
const list = z
  .array(z.string(profileError), profileError)
  .nullish()
  .transform((texts) => texts ?? []);

/** `description` is Markdown, `tags` are keys, `languages` are codes. There are no pictures. */
export const profileField = z
  .object(
    {
      short_text: field,
      description: field,
      tags: list,
      languages: list,
      website: field,
      discord: field,
      store: field,
      rules: field,
      video: field,
    },
    profileError,
  )
  .transform(
    ({ short_text: shortText, languages, ...others }): ProfileInput => ({
      ...others,
      shortText,
      languages: languages.join(','),
    }),
  );

export type TextsRecord = {
  profile?: ProfileInput | null | undefined;
  howToVote?: string | null | undefined;
};

/** Fields without a text are absent. @throws {InvalidDocumentError} if a text breaks a rule of the profile form */
export async function storedTexts(
  deps: HistoryDeps,
  { profile, howToVote }: TextsRecord,
): Promise<{ profile?: ProfileTexts; howToVote?: string }> {
  const texts = profile ? await readProfile(deps, profile) : {};
  const how = howToVote ? readHowToVote(howToVote) : '';
  return {
    ...(Object.keys(texts).length > 0 ? { profile: texts } : {}),
    ...(how === '' ? {} : { howToVote: how }),
  };
}

export async function refusedTexts(deps: HistoryDeps, record: TextsRecord): Promise<string | null> {
  try {
    await storedTexts(deps, record);
    return null;
  } catch (error) {
    if (error instanceof InvalidDocumentError) return error.message;
    throw error;
  }
}

export function profileRecord(profile: Profile | null | undefined): object | null {
  const { shortText, description, tags, languages } = profile ?? {};
  const links = LINKS.map((link) => [link, profile?.[link]] as const);
  const given = [
    ['short_text', shortText] as const,
    ['description', description] as const,
    ['tags', tags] as const,
    ['languages', languages] as const,
    ...links,
  ].filter(([, value]) => value !== undefined && value !== null && value.length > 0);
  return given.length > 0 ? Object.fromEntries(given) : null;
}
