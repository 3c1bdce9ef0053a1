import { t } from '../../language/t.ts';
import { BANNER_SIZES, bannerSizeSchema, USUAL_BANNER } from '../../platform/pictures/banner-sizes.ts';
import type { Server } from '../../servers/server.ts';
import type { Site } from './decorate-site.ts';
import { type Html, html } from './html.ts';
import { card, copyable } from './parts.ts';
import { BADGE, BANNER, publicPath, WIDGET } from './server-paths.ts';

const MARKDOWN_SIGNS = /[\\`*_{}[\]()#+\-.!<>&|~]/g;

type Shared = Pick<Server, 'name' | 'slug'>;

export function shareCard(site: Site, server: Shared): Html {
  const address = `${site.url}${publicPath(server)}`;
  const banner = html`<img class="banner" src="${site.base}${publicPath(server, '/banner.svg')}"
    width="${String(BANNER.width)}" height="${String(BANNER.height)}" alt="${t('The banner')}" loading="lazy" />`;
  const body = html`<p>${banner}</p>${copyable(address, t('the page’s address'))}
    <details><summary>${t('Show embed code')}</summary>${embedCodes(site, server)}</details>`;
  return card({ id: 'share', title: t('Share'), body });
}

export function embedCodes(site: Site, server: Shared): Html {
  const { base, url } = site;
  const page = `${url}${publicPath(server)}`;
  const banner = `${url}${publicPath(server, '/banner.svg')}`;
  const badge = `${url}${publicPath(server, '/badge.svg')}`;
  const { width, height } = BANNER;
  const alt = t('Vote for {server}', { server: server.name });
  const asHtml = String(
    html`<a href="${page}"><img src="${banner}" width="${width}" height="${height}" alt="${alt}"></a>`,
  );
  const frame = `${url}${publicPath(server, '/widget')}`;
  const size = html`width="${String(WIDGET.width)}" height="${String(WIDGET.height)}"`;
  const widget = String(
    html`<iframe src="${frame}" ${size} title="${alt}" loading="lazy" style="border:0"></iframe>`,
  );
  return html`<div class="spaced">
        <p><img class="banner" src="${base}${publicPath(server, '/banner.svg')}"
          width="${String(width)}" height="${String(height)}" alt="${t('The banner')}" loading="lazy" /></p>
        <p><img src="${base}${publicPath(server, '/badge.svg')}"
          height="${String(BADGE.height)}" alt="${t('The badge')}" loading="lazy" /></p>
        <p class="soft">${t(
          'The images and the widget update automatically. Embed them on a website, in a forum or in a README:',
        )}</p>
        <h3>${t('Page address')}</h3>${copyable(page, t('the page’s address'))}
        <h3>${t('Banner, HTML')}</h3>${copyable(asHtml, t('the banner as HTML'))}
        <h3>${t('Banner, Markdown')}</h3>${copyable(markdown(alt, banner, page), t('the banner as Markdown'))}
        <h3>${t('Banner, BBCode')}</h3>${copyable(`[url=${page}][img]${banner}[/img][/url]`, t('the banner as BBCode'))}
        ${pngCodes(site, server)}
        <h3>${t('Widget with a vote button, HTML')}</h3>${copyable(widget, t('the widget as HTML'))}
        <h3>${t('Badge, Markdown')}</h3>${copyable(markdown(alt, badge, page), t('the badge as Markdown'))}
        <h3>${t('Badge, BBCode')}</h3>${copyable(`[url=${page}][img]${badge}[/img][/url]`, t('the badge as BBCode'))}
      </div>`;
}

/** For places that show no SVG. */
function pngCodes({ url }: Site, server: Shared): Html {
  const page = `${url}${publicPath(server)}`;
  const banner = `${url}${publicPath(server, `/banner.png?size=${USUAL_BANNER}`)}`;
  const { width, height } = BANNER_SIZES[USUAL_BANNER];
  const alt = t('Vote for {server}', { server: server.name });
  const image = html`<img src="${banner}" width="${width}" height="${height}" alt="${alt}">`;
  const asHtml = String(html`<a href="${page}">${image}</a>`);
  const asBbCode = `[url=${page}][img]${banner}[/img][/url]`;
  return html`<h3>${t('Banner as PNG, HTML')}</h3>
        <p class="soft">${t(
          'For places that show no SVG. Sizes: {sizes}. For another one, change the address.',
          {
            sizes: bannerSizeSchema.options.join(', '),
          },
        )}</p>
        ${copyable(asHtml, t('the banner as PNG, HTML'))}
        <h3>${t('Banner as PNG, Markdown')}</h3>
        ${copyable(markdown(alt, banner, page), t('the banner as PNG, Markdown'))}
        <h3>${t('Banner as PNG, BBCode')}</h3>${copyable(asBbCode, t('the banner as PNG, BBCode'))}`;
}

function markdown(alt: string, image: string, page: string): string {
  return `[![${alt.replace(MARKDOWN_SIGNS, '\\$&')}](${image})](${page})`;
}
