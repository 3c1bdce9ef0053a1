import type { WithId } from 'mongodb';
import { t } from '../../language/t.ts';
import { filledParts } from '../../servers/moderate-profile.ts';
import { LINKS, type Profile, type ProfilePart } from '../../servers/profile.ts';
import type { Server } from '../../servers/server.ts';
import type { Typed } from '../shared/form.ts';
import { day } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { card, select } from '../shared/parts.ts';
import { bannerImage, description, iconImage, PART_TEXTS } from '../shared/profile-parts.ts';
import { reasonFields } from './admin-fields.ts';
import { adminServerPath } from './admin-frame.ts';

type View = { base: string; server: WithId<Server>; typed: Typed };

export function profileModeration({ base, server, typed }: View): Content {
  const { profile = {}, removedAt } = server;
  const parts = filledParts(profile);
  const removals = profile.removals ?? [];
  if (removedAt || (parts.length === 0 && removals.length === 0)) return '';
  return card({
    id: 'profile',
    title: 'Profile',
    body: html`${removals.map(removalText)}
      ${parts.map(
        (part) => html`<section>
          <h3>${asTitle(t(PART_TEXTS[part]))}</h3>
          ${content(base, server, profile, part)}
        </section>`,
      )}
      ${parts.length > 0 ? removalForm(adminServerPath(base, server, '/profile/remove'), parts, typed) : ''}`,
  });
}

function removalText({ part, at, reason }: NonNullable<Profile['removals']>[number]): Html {
  return html`<p class="small soft">Removed on ${day(at)}: ${t(PART_TEXTS[part])}. “<bdi>${reason}</bdi>”</p>`;
}

function asTitle(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function content(base: string, { name }: Server, profile: Profile, part: ProfilePart): Content {
  const { banner, icon } = profile;
  if (part === 'shortText') return html`<p dir="auto">${profile.shortText}</p>`;
  if (part === 'description') return description(profile.description ?? '');
  if (part === 'banner') return banner ? bannerImage(base, banner, name) : '';
  if (part === 'icon') return iconImage(base, icon);
  // As text and not as links, so that an operator does not open an unknown site by accident.
  return html`<ul class="plain">${LINKS.map((link) => profile[link])
    .filter(Boolean)
    .map((address) => html`<li class="mono">${address}</li>`)}</ul>`;
}

function removalForm(path: string, parts: ProfilePart[], { values, errors }: Typed): Html {
  const error = errors.part ?? errors.profileReason ?? errors.profileInternalReason;
  return html`<details class="confirm" ${error ? 'open' : ''}>
    <summary class="button quiet">Remove a part…</summary>
    <div class="confirm-body">
      <form method="post" action="${path}" class="stack">
        ${select({
          name: 'part',
          label: 'Part',
          value: values.part,
          options: parts.map((part) => [part, asTitle(t(PART_TEXTS[part]))]),
        })}
        ${reasonFields({
          typed: { values, errors },
          forOwner: { name: 'profileReason', reader: 'the owner', required: true },
          internal: { name: 'profileInternalReason' },
        })}
        <button class="danger" type="submit">Remove</button>
      </form>
    </div>
  </details>`;
}
