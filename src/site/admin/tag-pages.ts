import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inEnglish } from '../../language/t.ts';
import { addTag, readTags, removeTag, type Tag } from '../../servers/tag-list.ts';
import { userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OPERATOR } from '../page-route.ts';
import { errorsOf, type Typed, typedValues, UNTOUCHED } from '../shared/form.ts';
import { type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { button, card, confirmed, dataTable, notice, textField } from '../shared/parts.ts';
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

  const show = async (request: FastifyRequest, reply: FastifyReply, typed = UNTOUCHED, status = 200) => {
    const tags = await readTags(deps);
    const body = html`${addCard(path, typed)} ${tagsCard(path, tags)}`;
    return sendPage(
      request,
      reply,
      { title: 'Tags', messages: MESSAGES, body: adminFrame({ base, part: '/tags', body }) },
      status,
    );
  };

  app.get('/tags', OPERATOR, (request, reply) => show(request, reply));

  app.post('/tags', OPERATOR, async (request, reply) => {
    const values = typedValues(request);
    try {
      await addTag(deps, { name: values.name ?? '' }, userOf(request).email);
    } catch (error) {
      return show(request, reply, errorsOf(error, { name: '', ...values }), 400);
    }
    return reply.redirect(`${path}?done=added`, 303);
  });

  app.post('/tags/:tag/remove', OPERATOR, async (request, reply) => {
    const { tag } = request.params as { tag: string };
    if (!(await removeTag(deps, tag, userOf(request).email)))
      throw new PageError(404, 'There is no such tag in the list.');
    return reply.redirect(`${path}?done=removed`, 303);
  });
}

function addCard(path: string, { values, errors }: Typed): Html {
  return card({
    title: 'Add a tag',
    body: html`${errors.form ? notice('bad', errors.form) : ''}
      <form method="post" action="${path}" class="filters">
        ${textField({ name: 'name', label: 'Name', hint: 'Up to 30 characters', required: true, maxlength: 60, value: values.name ?? '', error: errors.name })}
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
