import type { WithId } from 'mongodb';
import { type Text, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import type { Server } from '../../servers/server.ts';
import { areaRail, tabOf } from '../shared/area.ts';
import { contactLine } from '../shared/contact.ts';
import { SERVER_AREA, type ServerTab } from '../shared/dashboard-pages.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { pageHead } from '../shared/deck.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Content, html } from '../shared/html.ts';
import type { Framed } from '../shared/layout.ts';
import { linkTo, notice } from '../shared/parts.ts';
import { pauseNotice } from '../shared/pause-parts.ts';
import type { RailCount } from '../shared/rail.ts';
import { picturedServer, serverIcon } from '../shared/server-pictures.ts';
import { serverStatusText } from '../shared/server-status.ts';
import { readTodos, todoCounts } from './server-todo.ts';

type Frame = {
  site: Site;
  deps: AppDeps;
  server: WithId<Server>;
  now: Date;
  part: ServerTab;
  /** Otherwise the rail reads them. */
  counts?: RailCounts;
  head?: Content;
  body: Content;
};

export type RailCounts = Partial<Record<ServerTab, RailCount>>;

/** `head` replaces the heading, which is the name of the part. */
export function serverFrame({ site, deps, server, now, part, counts, head, body }: Frame): Framed {
  const { base } = site;
  const hasRemovals = Boolean(server.profile?.removals?.length);
  const removed = t('The operator removed a part of this server’s profile. <a>See the reason</a>.', {
    a: linkTo(serverPath(base, server, '/profile')),
  });
  const hidden = t(
    'The operator has hidden this server from the ranking and public lists: “<bdi>{reason}</bdi>” Its API and votes keep working.',
    { reason: server.hiddenReason ?? '' },
  );
  const pause = pauseAt(server, now);
  const settings = html`<a href="${serverPath(base, server, '/settings')}#pause">${t('Change or end the pause')}</a>`;
  const name = tabOf<Text>(SERVER_AREA, part);
  const side = (marks: RailCounts) =>
    areaRail<Text>(SERVER_AREA, {
      label: t('Parts of this server'),
      whose: html`<a class="whose" href="${serverPath(base, server)}">${serverIcon(
        base,
        picturedServer(server),
        36,
      )}<b><bdi>${server.name}</bdi></b><span>${serverStatusText(server, now)}</span></a>`,
      name: t,
      href: (path) => serverPath(base, server, path),
      part,
      counts: marks,
    });
  return {
    side: counts
      ? side(counts)
      : readTodos(deps, [server]).then((todoOf) => side(todoCounts(todoOf(server._id)))),
    body: html`${head ?? pageHead({ title: name ? t(name) : server.name })}
    ${pause ? pauseNotice(pause, settings) : ''}
    ${server.hiddenAt ? notice('attention', html`${hidden}${contactLine(site)}`) : ''}
    ${hasRemovals && part !== '/profile' ? notice('attention', removed) : ''}
    ${body}`,
  };
}
