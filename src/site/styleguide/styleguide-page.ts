import type { FastifyInstance } from 'fastify';
import type { Config } from '../../platform/config.ts';
import { isLoopback } from '../../platform/config-values.ts';
import { ANYONE } from '../route-options.ts';
import { type Content, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { basics } from './basic-parts.ts';
import { listingParts } from './listing-parts.ts';
import type { StyleguidePart } from './styleguide-part.ts';

/** The schemes in which each part is shown, side by side. */
const SCHEMES = ['light', 'dark'] as const;

/**
 * `/styleguide`: the parts of the pages in both schemes (docs/design-system.md). The page exists only while
 * `PUBLIC_URL` is an address of this machine: in development, in tests and in the demo. Its text is English.
 */
export function styleguide(app: FastifyInstance, { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): void {
  if (!isLoopback(new URL(PUBLIC_URL).hostname)) return;
  const { base } = app.site;

  app.get('/styleguide', ANYONE, (request, reply) =>
    sendPage(request, reply, {
      title: 'Style guide',
      width: 'full',
      styles: ['public.css', 'styleguide.css'],
      body: html`<div class="styleguide" lang="en"><h1>Style guide</h1>
        <p>The parts of the pages. docs/design-system.md says when each of them is used.</p>
        ${SCHEMES.map(
          (scheme) => html`<section class="scheme" data-theme="${scheme}" aria-label="${scheme}">
          <h2>${scheme}</h2>${[...basics(scheme), ...listingParts(base)].map(sample)}</section>`,
        )}</div>`,
    }),
  );
}

function sample({ name, body }: StyleguidePart): Content {
  return html`<div class="sample"><h3>${name}</h3>${body}</div>`;
}
