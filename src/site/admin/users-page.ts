import type { FastifyInstance } from 'fastify';
import { ObjectId, type WithId } from 'mongodb';
import type { User } from '../../accounts/user.ts';
import { listUsers, searchUsers, type UserPosition } from '../../workflows/find-users.ts';
import { OPERATOR } from '../route-options.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { badge, dataTable, pager, select, textField } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';

const PER_PAGE = 50;

/** `/operator/users`: all users or operators, newest first, or those whose address or name begins with a text. */
export function usersPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const path = adminPath(base, '/users');

  app.get('/users', OPERATOR, async (request, reply) => {
    const { search = '', role, after } = readQuery(request.query as Record<string, unknown>);
    const page = { base, path, search, role, now: deps.clock.now() };
    if (search !== '') {
      const users = await searchUsers(deps, { text: search, role, limit: PER_PAGE });
      return sendPage(request, reply, usersPage({ ...page, users, older: undefined }));
    }
    const { users, next } = await listUsers(deps, { role, after, limit: PER_PAGE });
    const older = next ? `${path}?${new URLSearchParams(positionQuery(role, next))}` : undefined;
    return sendPage(request, reply, usersPage({ ...page, users, older }));
  });
}

type Query = { search?: string; role?: 'operator' | undefined; after?: UserPosition | undefined };

/** Reads the query. Invalid values count as absent. */
function readQuery({ search, role, after }: Record<string, unknown>): Query {
  const [, ms, id] = /^(\d{1,15})-([0-9a-f]{24})$/.exec(String(after)) ?? [];
  return {
    search: typeof search === 'string' ? search.trim().slice(0, 254) : '',
    role: role === 'operator' ? role : undefined,
    after: ms && id ? { createdAt: new Date(Number(ms)), id: new ObjectId(id) } : undefined,
  };
}

function positionQuery(role: Query['role'], { createdAt, id }: UserPosition): Record<string, string> {
  return { ...(role ? { role } : {}), after: `${createdAt.getTime()}-${id.toHexString()}` };
}

type UsersView = {
  base: string;
  path: string;
  search: string;
  role: 'operator' | undefined;
  users: WithId<User>[];
  older: string | undefined;
  now: Date;
};

function usersPage({ base, path, search, role, users, older, now }: UsersView): Page {
  return {
    title: 'Users',
    ...adminFrame({
      base,
      part: '/users',
      body: html`<form method="get" action="${path}" class="filters">
        ${textField({
          name: 'search',
          label: 'E-mail address or name begins with',
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
      ${pager({ older })}`,
    }),
  };
}

/** A user's states as badges. */
export function accountStatus(user: User): Content {
  return html`<span class="actions">${badges(user)}</span>`;
}

function badges({ role, suspendedAt, emailVerified, twoFactorEnabled }: User): Html[] {
  return [
    ...(suspendedAt ? [badge('bad', 'suspended')] : []),
    ...(role === 'operator' ? [badge('attention', 'operator')] : []),
    ...(emailVerified ? [] : [badge('quiet', 'not confirmed')]),
    ...(twoFactorEnabled ? [badge('good', 'two-factor')] : []),
  ];
}
