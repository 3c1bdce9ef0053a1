import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { inEnglish } from '../../language/t.ts';
import { addTag, LONGEST_TAG, readTags, removeTag, type Tag } from '../../servers/tag-list.ts';
import { OPERATOR } from '../route-options.ts';
import { emptyLine } from '../shared/empty-card.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, confirmed } from '../shared/parts.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';

const MESSAGES = inEnglish({
  added: 'Tag added. Owners can choose it now.',
  removed: 'Tag removed from the list and from all servers.',
});

export function tagPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const path = adminPath(base, '/tags');

  const page = async (typed: Typed): Promise<Page> => {
    const tags = await readTags(deps);
    const body = html`${addForm(path, typed)} ${tagsCard(path, tags)}`;
    return adminPage({ base, part: '/tags', title: 'Tags', messages: MESSAGES, body });
  };

  app.get('/tags', OPERATOR, async (request, reply) => sendPage(request, reply, await page(UNTOUCHED)));

  formRoute(app, {
    path: '/tags',
    access: OPERATOR,
    schema: z.object({ name: fieldText }),
    show: (_request, typed) => page(typed),
    run: async ({ by, data }) => {
      await addTag(deps, data, by);
      return `${path}?done=added`;
    },
  });

  formRoute(app, {
    path: '/tags/:tag/remove',
    access: OPERATOR,
    run: async ({ request, by }) => {
      const { tag } = request.params as { tag: string };
      const isRemoved = await removeTag(deps, tag, by);
      return isRemoved ? `${path}?done=removed` : refused(404, 'There is no such tag in the list.');
    },
  });
}

function addForm(path: string, typed: Typed): Html {
  return html`<form method="post" action="${path}" class="filters">
    ${fieldsOf(typed).text('name', {
      label: 'Name of a new tag',
      hint: `Up to ${LONGEST_TAG} characters`,
      required: true,
      maxlength: 60,
    })}
    <button type="submit">Add</button>
  </form>`;
}

function tagsCard(path: string, tags: Tag[]): Html {
  if (tags.length === 0)
    return html`<section class="card">${emptyLine('There are no tags. Owners cannot choose any.')}</section>`;
  return html`<section class="card"><h2 class="for-readers">Tags that owners choose from</h2>
    <ul class="tag-list">${tags.map(
      ({ key, name }) =>
        html`<li><span><b><bdi>${name}</bdi></b> <span class="mono soft">${key}</span></span>${confirmed({
          text: 'Remove…',
          of: name,
          consequence: 'All servers with this tag lose it.',
          form: button({ to: `${path}/${key}/remove`, text: 'Remove', kind: 'danger', of: name }),
        })}</li>`,
    )}</ul></section>`;
}
