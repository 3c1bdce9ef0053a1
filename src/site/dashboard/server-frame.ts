import { type Text, t } from '../../language/t.ts';
import type { Server } from '../../servers/server.ts';
import { railGroups, tabsOf } from '../shared/area.ts';
import { contactLine } from '../shared/contact.ts';
import { SERVER_AREA, type ServerTab } from '../shared/dashboard-pages.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { pageHead } from '../shared/deck.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Framed } from '../shared/layout.ts';
import { notice } from '../shared/parts.ts';
import { type RailCount, rail } from '../shared/rail.ts';
import { picturedServer, serverIcon } from '../shared/server-pictures.ts';
import { statusText } from '../shared/server-status.ts';

type Frame = {
  site: Pick<Site, 'base' | 'pages' | 'contact'>;
  server: Pick<
    Server,
    | '_id'
    | 'name'
    | 'slug'
    | 'game'
    | 'probe'
    | 'lastReport'
    | 'current'
    | 'hiddenAt'
    | 'hiddenReason'
    | 'profile'
  >;
  now: Date;
  /** The path of the current part. */
  part: ServerTab;
  /** What a person must do in other parts. */
  counts?: Partial<Record<ServerTab, RailCount>>;
  /** Replaces the heading, which is the name of the part. */
  head?: Content;
  body: Content;
};

/** The frame of the dashboard pages of a server: rail, heading (by default the part's name) and notices. */
export function serverFrame({ site, server, now, part, counts, head, body }: Frame): Framed {
  const { base } = site;
  const hasRemovals = Boolean(server.profile?.removals?.length);
  const name = tabsOf<Text>(SERVER_AREA).find(({ path }) => path === part)?.tab;
  const side = rail({
    label: t('Parts of this server'),
    whose: html`<a class="whose" href="${serverPath(base, server)}">${serverIcon(base, picturedServer(server), 36)}<b><bdi>${
      server.name
    }</bdi></b><span>${statusText(server, now)}</span></a>`,
    groups: railGroups<Text>(SERVER_AREA, t, (path) => serverPath(base, server, path), counts),
    current: serverPath(base, server, part),
  });
  return {
    side,
    body: html`${head ?? pageHead({ title: name ? t(name) : server.name })}
    ${server.hiddenAt ? hiddenNotice(site, server) : ''}
    ${hasRemovals && part !== '/profile' ? removalNotice(serverPath(base, server, '/profile')) : ''}
    ${body}`,
  };
}

function hiddenNotice(site: Frame['site'], { hiddenReason }: Frame['server']): Html {
  const hidden = t(
    'The operator has hidden this server from the ranking and public lists: “<bdi>{reason}</bdi>” Its API and votes keep working.',
    { reason: hiddenReason ?? '' },
  );
  return notice('attention', html`${hidden}${contactLine(site)}`);
}

function removalNotice(profilePath: string): Html {
  const removed = t('The operator removed a part of this server’s profile. <a>See the reason</a>.', {
    a: (text) => html`<a href="${profilePath}">${text}</a>`,
  });
  return notice('attention', removed);
}
