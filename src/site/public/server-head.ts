import { t } from '../../language/t.ts';
import { languageName } from '../../servers/languages.ts';
import type { Server } from '../../servers/server.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { country } from '../shared/flags.ts';
import { counted, dayText, oneDecimal } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { premiumMark } from '../shared/server-parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { cover, picturedServer, serverIcon } from '../shared/server-pictures.ts';
import { gamePath } from './ranking-query.ts';
import type { Seen, View } from './server-page-data.ts';
import { starAnchor } from './star.ts';

/** The head of a server's page: banner, icon, name, the owner's short text, and a line of details. */
export function serverHead(site: Site, view: View): Html {
  const { server, seen } = view;
  const { base } = site;
  const pictured = picturedServer(server);
  const { shortText } = server.profile ?? {};
  return html`${cover(base, pictured)}
    <header class="ident">
      ${serverIcon(base, pictured, 112)}
      <div class="ident-text">
        <h1><bdi>${server.name}</bdi></h1>
        ${shortText ? html`<p class="line" dir="auto">${shortText}</p>` : ''}
        ${about(base, server, seen)}
      </div>
      ${tools(site, view)}
    </header>`;
}

/** The line of details. Only narrow pages show the rating here, because there the key figures are far below. */
function about(base: string, server: Server, { info, found }: Seen): Content {
  const { game, profile } = server;
  const version = info.version ? html` <bdi>${info.version}</bdi>` : '';
  const parts = [
    found.total > 0 && rating(found),
    info.countryCode !== 'ZZ' && country(base, info.countryCode),
    game ? html`<a href="${base}${gamePath(game)}">${gameName(game)}</a>${version}` : version,
    profile?.languages?.map(languageName).join(', '),
    info.isPremium && premiumMark(base),
    ownershipMark(server),
  ].filter(Boolean);
  return parts.length > 0 ? html`<p class="meta">${parts.map((part) => html`<span>${part}</span>`)}</p>` : '';
}

function rating({ averageRating, total }: Seen['found']): Html {
  const reviews = html`<a href="#reviews">${counted(total, 'review')}</a>`;
  return html`<span class="rated">${icon('star', 'solid')} ${oneDecimal(averageRating)} · ${reviews}</span>`;
}

/** A mark if the ownership is proven; its tooltip says how it was proven, and when. */
function ownershipMark({ ownerId, proof }: Server): Content {
  if (!ownerId || !proof) return '';
  const { how, text } =
    proof.method === 'operator'
      ? { how: t('An operator of this listing confirmed the owner'), text: t('Owner confirmed') }
      : { how: t('The owner showed control of this server'), text: t('Ownership proven') };
  return html`<span title="${how} (${dayText(proof.at)}).">${icon('shield-check')} ${text}</span>`;
}

function tools(site: Site, view: View): Html {
  const { server, reader } = view;
  const dashboard = reader?.dashboard
    ? html`<a class="button quiet" href="${serverPath(site.base, server)}">${t('Dashboard')}</a>`
    : '';
  const share = server.hiddenAt
    ? ''
    : html`<a class="button quiet" href="#share" data-share="${server.name}">${icon('share-2')}${t('Share')}</a>`;
  return html`<div class="tools">${favourite(site, view)}${share}${dashboard}</div>`;
}

/** The button that adds the server to the favourites or removes it. A visitor is redirected to sign up first. */
function favourite({ base }: Site, { server, reader }: View): Content {
  const path = `${base}${publicPath(server)}`;
  const isFavourite = reader?.isFavourite ?? false;
  if (server.hiddenAt && !isFavourite) return '';
  const does = isFavourite ? t('Remove from your favourites') : t('Add to your favourites');
  const to = html`formaction="${base}/favourites/${server._id.toHexString()}"`;
  return html`<form method="post"><input type="hidden" name="next" value="${path}" />
    <button class="quiet" type="submit" ${to} name="favourite" value="${isFavourite ? 'no' : 'yes'}"
      id="${starAnchor(server)}" title="${does}">${icon('star', isFavourite ? 'solid' : 'outline')}<span
        aria-hidden="true">${t('Favourite')}</span><span class="for-readers">${does}: ${server.name}</span></button>
  </form>`;
}
