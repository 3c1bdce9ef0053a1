import type { WithId } from 'mongodb';
import { type Text, t } from '../../language/t.ts';
import type { Server } from '../../servers/server.ts';
import { tabsOf } from '../shared/area.ts';
import { contactLine } from '../shared/contact.ts';
import { SERVER_AREA, type ServerTab } from '../shared/dashboard-pages.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { linkTo, notice, tabs } from '../shared/parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { statusBadge } from '../shared/server-status.ts';

type Frame = {
  site: Site;
  server: WithId<Server>;
  now: Date;
  part: ServerTab;
  body: Content;
};

/** The frame of the dashboard pages of a server: name, status and tabs. */
export function serverFrame({ site, server, now, part, body }: Frame): Html {
  const { base } = site;
  const hasRemovals = Boolean(server.profile?.removals?.length);
  const removed = t('The operator removed a part of this server’s profile. <a>See the reason</a>.', {
    a: linkTo(serverPath(base, server, '/profile')),
  });
  const hidden = t(
    'The operator has hidden this server from the ranking and public lists: “<bdi>{reason}</bdi>” Its API and votes keep working.',
    { reason: server.hiddenReason ?? '' },
  );
  return html`<div class="page-head">
      <div>
        <p class="small">
          <a href="${base}/dashboard">${t('Your servers')}</a> ·
          <a href="${base}${publicPath(server)}">${t('Public page')}</a>
        </p>
        <h1><bdi>${server.name}</bdi></h1>
      </div>
      ${statusBadge(server, now)}
    </div>
    ${tabs(
      server.name,
      tabsOf<Text>(SERVER_AREA).map(({ path, tab }) => ({
        href: serverPath(base, server, path),
        text: t(tab),
      })),
      serverPath(base, server, part),
    )}
    ${server.hiddenAt ? notice('attention', html`${hidden}${contactLine(site)}`) : ''}
    ${hasRemovals && part !== '/profile' ? notice('attention', removed) : ''}
    ${body}`;
}
