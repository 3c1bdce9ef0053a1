import { Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';
import { PICTURE_FAILURES } from '../platform/pictures/picture-error.ts';

/** In code points. */
export const LONGEST_SHORT_TEXT = 200;
/** In code points. */
export const LONGEST_DESCRIPTION = 10_000;
export const MOST_TAGS_OF_A_SERVER = 8;
export const MOST_LANGUAGES = 8;

export const LINKS = ['website', 'discord', 'store', 'rules', 'video'] as const;
export type LinkName = (typeof LINKS)[number];

export const PROFILE_PARTS = ['shortText', 'description', 'links', 'banner', 'icon'] as const;
export type ProfilePart = (typeof PROFILE_PARTS)[number];

const LINK = { type: String, maxlength: 2_000 } as const;
const PICTURE = { type: String, match: /^[0-9a-f]{64}$/ } as const;

const iconDefinition = {
  /** The SHA-256 of the icon as the server sent it. */
  source: { type: String, required: true },
  /** Absent if the icon was refused or removed by an operator. It stays absent until the server sends another icon. */
  picture: PICTURE,
} as const;

const bannerDefinition = {
  /** At most 1,200 pixels wide; `narrow` at most 600. */
  wide: { ...PICTURE, required: true },
  narrow: { ...PICTURE, required: true },
  /** The size of the wide picture, in pixels. */
  width: { type: Number, required: true },
  height: { type: Number, required: true },
} as const;

const bannerUploadDefinition = {
  id: { type: String, required: true },
  at: { type: Date, required: true },
  /** Why the upload was refused; absent while the upload waits for a worker. */
  failure: { type: String, enum: PICTURE_FAILURES },
} as const;

const removalDefinition = {
  part: { type: String, enum: PROFILE_PARTS, required: true },
  at: { type: Date, required: true },
  reason: { type: String, required: true, maxlength: 1_000 },
} as const;

const nested = { _id: false } as const;

const profileDefinition = {
  shortText: { type: String, maxlength: 2 * LONGEST_SHORT_TEXT },
  /** A subset of Markdown (see `renderMarkdown`). */
  description: { type: String, maxlength: 2 * LONGEST_DESCRIPTION },
  /** Keys of the tag list. */
  tags: { type: [String], default: undefined },
  /** ISO 639-1 codes, in the owner's order. */
  languages: { type: [String], default: undefined },
  website: LINK,
  discord: LINK,
  store: LINK,
  rules: LINK,
  video: LINK,
  icon: { type: new Schema(iconDefinition, nested) },
  banner: { type: new Schema(bannerDefinition, nested) },
  /** The newest uploaded banner, until it is encoded; a refused one stays until the next upload or removal. */
  bannerUpload: { type: new Schema(bannerUploadDefinition, nested) },
  /** What an operator removed: at most one entry per part, until the part is set again. */
  removals: { type: [new Schema(removalDefinition, nested)], default: undefined },
} as const;

/** Every field is absent until it is set. */
export const profileSchema = new Schema(profileDefinition, nested);

export type Removal = Nested<typeof removalDefinition>;
export type Icon = Nested<typeof iconDefinition>;
export type Banner = Nested<typeof bannerDefinition>;
export type BannerUpload = Nested<typeof bannerUploadDefinition>;

/** What the owner enters. */
export type ProfileTexts = Partial<
  Record<'shortText' | 'description' | LinkName, string> & { tags: string[]; languages: string[] }
>;

export type Profile = ProfileTexts & {
  icon?: Icon;
  banner?: Banner;
  bannerUpload?: BannerUpload;
  removals?: Removal[];
};
