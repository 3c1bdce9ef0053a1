import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { inEnglish } from '../../language/t.ts';
import { addTag, LONGEST_TAG, readTags, removeTag, type Tag } from '../../servers/tag-list.ts';
import { OPERATOR } from '../route-options.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card, confirmed, dataTable } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';

const MESSAGES = inEnglish({
  added: 'Tag added. Owners can choose it now.',
  removed: 'Tag removed from the list and from all servers.',
});

/** `/operator/tags`: the list of tags that owners choose from. */
export function tagPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const path = adminPath(base, '/tags');

  const page = async (typed: Typed): Promise<Page> => {
    const tags = await readTags(deps);
    const body = html`${addCard(path, typed)} ${tagsCard(path, tags)}`;
    return { title: 'Tags', messages: MESSAGES, ...adminFrame({ base, part: '/tags', body }) };
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

function addCard(path: string, typed: Typed): Html {
  return card({
    title: 'Add a tag',
    body: html`<form method="post" action="${path}" class="filters">
        ${fieldsOf(typed).text('name', {
          label: 'Name',
          hint: `Up to ${LONGEST_TAG} characters`,
          required: true,
          maxlength: 60,
        })}
        <button type="submit">Add</button>
      </form>`,
  });
}

function tagsCard(path: string, tags: Tag[]): Html {
  return html`<section class="card">${dataTable({
    caption: 'Tags that owners choose from',
    rows: tags,
    empty: 'There are no tags. Owners cannot choose any.',
    columns: [
      { title: 'Tag', heads: true, cell: ({ name }) => html`<bdi>${name}</bdi>` },
      { title: 'In addresses', cell: ({ key }) => html`<span class="mono">${key}</span>` },
      {
        title: 'Action',
        cell: ({ key, name }) =>
          confirmed({
            text: 'Remove…',
            of: name,
            consequence: 'All servers with this tag lose it.',
            form: button({ to: `${path}/${key}/remove`, text: 'Remove', kind: 'danger', of: name }),
          }),
      },
    ],
  })}</section>`;
}
