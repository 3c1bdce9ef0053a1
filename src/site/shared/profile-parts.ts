import { defineMessage, type Text, t } from '../../language/t.ts';
import { renderMarkdown } from '../../platform/markdown.ts';
import { writtenLink } from '../../platform/written-link.ts';
import { languageName } from '../../servers/languages.ts';
import {
  type Banner,
  type Icon,
  LINKS,
  type LinkName,
  type Profile,
  type ProfilePart,
  type ProfileTexts,
} from '../../servers/profile.ts';
import type { Tag } from '../../servers/tag-list.ts';
import { type Content, type Html, html, raw } from './html.ts';
import { facts } from './parts.ts';
import { bannerSources, pictureAddress } from './server-pictures.ts';

export const LINK_TITLES: Record<LinkName, Text> = {
  website: defineMessage('Website'),
  discord: defineMessage('Discord'),
  store: defineMessage('Store'),
  rules: defineMessage('Rules'),
  video: defineMessage('Video'),
};

export const PART_TEXTS: Record<ProfilePart, Text> = {
  shortText: defineMessage('short text'),
  description: defineMessage('description'),
  links: defineMessage('links'),
  banner: defineMessage('banner'),
  icon: defineMessage('icon'),
};

/** Rendered from Markdown and sanitised. */
export function description(text: string): Html {
  return html`<div class="written markdown" dir="auto">${raw(renderMarkdown(text))}</div>`;
}

export function tagChips(
  base: string,
  keys: string[] | undefined,
  tags: Tag[],
  most = Number.POSITIVE_INFINITY,
): Content {
  const chosen = tags.filter(({ key }) => keys?.includes(key)).slice(0, most);
  if (chosen.length === 0) return '';
  const links = chosen.map(({ key, name }) => html`<a class="tag" href="${base}/tags/${key}">${name}</a>`);
  return html`<span class="tags">${links}</span>`;
}

export function profileFacts(profile: ProfileTexts): Content {
  const { languages = [] } = profile;
  const entries: [string, Content][] = [
    [t('Languages'), languages.map(languageName).join(', ')],
    ...LINKS.map((name): [string, Content] => [t(LINK_TITLES[name]), ownersLink(profile[name])]),
  ];
  return entries.some(([, value]) => value) ? facts(entries) : '';
}

/** The text is the whole host in ASCII, and the beginning of the rest of the address. */
function ownersLink(address: string | undefined): Content {
  const link = writtenLink(address ?? '');
  if (!link) return '';
  const rest = `${link.pathname}${link.search}${link.hash}`.replace(/\/$/, '');
  const shown = `${link.host}${rest.length > 40 ? `${rest.slice(0, 39)}…` : rest}`;
  return html`<a href="${link.href}" rel="nofollow ugc noopener noreferrer"><bdi>${shown}</bdi></a>`;
}

export function hasAbout({ description, languages, ...links }: Profile): boolean {
  return !!description || !!languages?.length || LINKS.some((name) => links[name]);
}

export function aboutBody(profile: ProfileTexts): Html {
  return html`${profile.description ? description(profile.description) : ''}${profileFacts(profile)}`;
}

export function bannerImage(base: string, banner: Banner, name: string): Html {
  const { wide, width, height } = banner;
  return html`<img class="banner" src="${pictureAddress(base, wide)}"
    srcset="${bannerSources(base, banner)}" sizes="(max-width: 68rem) 100vw, 65rem"
    width="${width}" height="${height}" alt="${t('Banner of {name}', { name })}" />`;
}

/** Without alternative text, because it is always beside the server's name. */
export function iconImage(base: string, icon: Icon | undefined): Content {
  if (!icon?.picture) return '';
  const address = pictureAddress(base, icon.picture);
  return html`<img class="icon" src="${address}" alt="" width="64" height="64" loading="lazy" />`;
}
