import type { FastifyInstance } from 'fastify';
import type { User } from '../../accounts/user.ts';
import { listUsers, searchUsers } from '../../workflows/find-users.ts';
import { OPERATOR } from '../route-options.ts';
import { queryOf } from '../shared/form.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { badge, cursorPager, dataTable, select, textField } from '../shared/parts.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';

const PER_PAGE = 50;

export function usersPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const path = adminPath(base, '/users');

  app.get('/users', OPERATOR, async (request, reply) => {
    const query = queryOf(request);
    const search = (query.search ?? '').slice(0, 254);
    const role = query.role === 'operator' ? query.role : undefined;
    const { rows: users, next } =
      search === ''
        ? await listUsers(deps, { role, from: query.from, limit: PER_PAGE })
        : { rows: await searchUsers(deps, { text: search, role, limit: PER_PAGE }), next: null };
    const now = deps.clock.now();
    const page = adminPage({
      base,
      part: '/users',
      title: 'Users',
      body: html`<form method="get" action="${path}" class="filters">
        ${textField({
          name: 'search',
          label: 'E-mail address or name',
          placeholder: 'Its beginning',
          type: 'search',
          value: search,
          maxlength: 254,
        })}
        ${select({
          name: 'role',
          label: 'Role',
          value: role ?? '',
          options: [
            ['', 'All'],
            ['operator', 'Operators'],
          ],
        })}
        <button type="submit" class="quiet">Show</button>
      </form>
      <section class="card">
        ${dataTable({
          caption: 'Users',
          rows: users,
          columns: [
            {
              title: 'E-mail address',
              heads: true,
              cell: ({ _id, email }) => html`<a href="${path}/${_id.toHexString()}">${email}</a>`,
            },
            { title: 'Name', cell: ({ name }) => html`<bdi>${name}</bdi>` },
            { title: 'State', cell: accountStatus },
            { title: 'Created', cell: ({ createdAt }) => timeAgo(createdAt, now) },
          ],
          empty: search === '' ? 'No users yet.' : 'No users match.',
        })}
        ${
          users.length === PER_PAGE && search !== ''
            ? html`<p class="soft">There may be more results. Enter more letters to narrow them down.</p>`
            : ''
        }
      </section>
      ${cursorPager(path, { from: query.from, next }, { role })}`,
    });
    return sendPage(request, reply, page);
  });
}

export function accountStatus({ role, suspendedAt, emailVerified, twoFactorEnabled }: User): Content {
  return html`<span class="actions">${[
    suspendedAt && badge('bad', 'suspended'),
    role === 'operator' && badge('attention', 'operator'),
    !emailVerified && badge('quiet', 'not confirmed'),
    twoFactorEnabled && badge('good', 'two-factor'),
  ]}</span>`;
}
