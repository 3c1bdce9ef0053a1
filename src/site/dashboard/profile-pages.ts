import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { defineMessage, t } from '../../language/t.ts';
import { readProfile, setProfile } from '../../servers/edit-profile.ts';
import { languageName } from '../../servers/languages.ts';
import {
  LINKS,
  LONGEST_DESCRIPTION,
  LONGEST_SHORT_TEXT,
  MOST_LANGUAGES,
  MOST_TAGS_OF_A_SERVER,
  type ProfileTexts,
} from '../../servers/profile.ts';
import type { Server } from '../../servers/server.ts';
import { readTags, type Tag } from '../../servers/tag-list.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { allValues, fieldText, type Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute } from '../shared/form-route.ts';
import { count, day } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { card, notice } from '../shared/parts.ts';
import { aboutBody, hasAbout, LINK_TITLES, PART_TEXTS, tagChips } from '../shared/profile-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { bannerForms, isPreparing, picturesCard } from './banner-forms.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  saved: defineMessage('Profile saved. The public page shows it within seconds.'),
  banner: defineMessage('Banner uploaded. The public page shows it once it is prepared.'),
  'banner-removed': defineMessage('Banner removed.'),
};

/** The body limit in bytes: the longest description, with 12 bytes per encoded character, plus the other fields. */
const PROFILE_FORM_LIMIT = 160 * 1_024;

const profileForm = z.object({
  shortText: fieldText,
  description: fieldText,
  languages: fieldText,
  website: fieldText,
  discord: fieldText,
  store: fieldText,
  rules: fieldText,
  video: fieldText,
  do: z.string().optional(),
});

type Showing = {
  typed?: Typed;
  tags?: string[];
  /** Texts that are not saved. */
  preview?: ProfileTexts;
  bannerError?: string;
};

/** `/dashboard/servers/<id>/profile`: the server's texts and pictures. */
export function profilePages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  const page = async (request: FastifyRequest, showing: Showing = {}): Promise<Page> => {
    const server = serverOf(request);
    const path = serverPath(base, server, '/profile');
    const tags = await readTags(deps);
    const now = deps.clock.now();
    const body = html`${removals(server)}
      ${showing.preview ? previewCard(base, server, showing.preview, tags) : ''}
      ${profileCard(path, server, tags, showing)}
      ${picturesCard(base, path, server, showing.bannerError, now)}
      <p class="small"><a href="${base}${publicPath(server)}">${t('See the public page')}</a></p>`;
    return {
      title: `${t('Profile')} · ${server.name}`,
      messages: MESSAGES,
      live: isPreparing(server, now),
      ...serverFrame({ site: app.site, deps, server, now, part: '/profile', body }),
    };
  };

  app.get('/servers/:serverId/profile', OWNER, async (request, reply) =>
    sendPage(request, reply, await page(request)),
  );

  formRoute(app, {
    path: '/servers/:serverId/profile',
    access: { ...OWNER, bodyLimit: PROFILE_FORM_LIMIT },
    schema: profileForm,
    show: (request, typed) => page(request, { typed, tags: allValues(request, 'tags') }),
    run: async ({ request, server, by, path, data, values }) => {
      const tags = allValues(request, 'tags');
      const { do: action, ...texts } = data;
      const input = { ...texts, tags };
      if (action === 'preview') {
        const preview = await readProfile(deps, input);
        return { page: page(request, { typed: { values, errors: {} }, tags, preview }) };
      }
      await setProfile(deps, server, input, by);
      return `${path('/profile')}?done=saved`;
    },
  });

  // The forms for the banner have their own Fastify scope, because only they accept files.
  app.register(bannerForms, {
    deps,
    show: (request: FastifyRequest, bannerError: string) => page(request, { bannerError }),
  });
}

function removals({ profile }: Server): Content {
  return (profile?.removals ?? []).map(({ part, at, reason }) => {
    const removed = { part: t(PART_TEXTS[part]), day: day(at), reason };
    return notice('attention', t('The operator removed the {part} on {day}: “<bdi>{reason}</bdi>”', removed));
  });
}

function valuesOf(profile: ProfileTexts = {}): Record<string, string> {
  const { shortText = '', description = '', languages = [] } = profile;
  const links = LINKS.map((name) => [name, profile[name] ?? '']);
  const names = languages.map(languageName).join(', ');
  return { shortText, description, languages: names, ...Object.fromEntries(links) };
}

function profileCard(path: string, { profile }: Server, tags: Tag[], showing: Showing): Html {
  const typed = showing.typed ?? { values: valuesOf(profile), errors: {} };
  const fields = fieldsOf(typed);
  const chosen = showing.tags ?? profile?.tags ?? [];
  const link = (name: (typeof LINKS)[number], hint: string) =>
    fields.text(name, {
      label: t(LINK_TITLES[name]),
      hint,
      inputmode: 'url',
      maxlength: 500,
      spellcheck: false,
    });
  return card({
    title: t('Profile'),
    body: html`<p>${t('Tell players what your server is. Every field is optional.')}</p>
      <form method="post" action="${path}" class="stack">
        ${fields.text('shortText', {
          label: t('Short text'),
          hint: t('One sentence, up to {characters} characters. The list of servers shows it.', {
            characters: LONGEST_SHORT_TEXT,
          }),
          maxlength: 2 * LONGEST_SHORT_TEXT,
        })}
        ${fields.area('description', { label: t('Description'), hint: descriptionHint(), rows: 12 })}
        ${tagField(tags, chosen, typed.errors.tags)}
        ${fields.text('languages', {
          label: t('Languages'),
          hint: t('Up to {most}, separated by commas: English, Deutsch, fr', { most: MOST_LANGUAGES }),
          maxlength: 400,
          spellcheck: false,
        })}
        <div class="row">${link('website', 'https://example.org')}${link('discord', 'https://discord.gg/AbCdEf')}</div>
        <div class="row">
          ${link('store', t('Where players buy ranks'))}
          ${link('rules', t('The rules of your server'))}
          ${link('video', t('A trailer; shown as a link'))}
        </div>
        <div class="actions">
          <button type="submit">${t('Save')}</button>
          <button type="submit" class="quiet" name="do" value="preview">${t('Preview')}</button>
        </div>
      </form>`,
  });
}

function descriptionHint(): Html {
  return t(
    'Up to {characters} characters of Markdown: <code># Heading</code>, <code>**bold**</code>, <code>*italic*</code>, <code>- list</code>, <code>> quote</code>, <code>[link](https://example.org)</code>. No images and no HTML.',
    { characters: count(LONGEST_DESCRIPTION) },
  );
}

function tagField(tags: Tag[], chosen: string[], error: string | undefined): Html {
  const describedBy = error ? 'tags-hint tags-error' : 'tags-hint';
  const hint = t('Up to {most}. Players filter the list by them.', { most: MOST_TAGS_OF_A_SERVER });
  return html`<fieldset id="tags" class="field" aria-describedby="${describedBy}" tabindex="-1">
    <legend>${t('Tags')}</legend>
    <p class="hint" id="tags-hint">${hint}</p>
    ${error ? html`<p class="error" id="tags-error">${error}</p>` : ''}
    <div class="tag-choices">
      ${tags.map(
        ({ key, name }) => html`<div class="field check">
          <input id="tag-${key}" name="tags" type="checkbox" value="${key}" ${chosen.includes(key) ? 'checked' : ''} />
          <label for="tag-${key}">${name}</label>
        </div>`,
      )}
    </div>
  </fieldset>`;
}

function previewCard(base: string, { name }: Server, preview: ProfileTexts, tags: Tag[]): Html {
  return card({
    id: 'preview',
    isResult: true,
    title: t('Preview (not saved)'),
    body: html`<div>
        <p><strong><bdi>${name}</bdi></strong></p>
        ${preview.shortText ? html`<p dir="auto">${preview.shortText}</p>` : ''}
        ${tagChips(base, preview.tags, tags)}
      </div>
      ${hasAbout(preview) ? aboutBody(preview) : ''}`,
  });
}
