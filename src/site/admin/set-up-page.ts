import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { SET_UP_STEPS, setStepClosed } from '../../settings/set-up-step.ts';
import { OPERATOR } from '../route-options.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { badge, button, card, notice } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { type ListedStep, listSteps } from './set-up-list.ts';

/** The form value that closes all steps that are still open. */
const REST = 'rest';

/** `/operator/setup`: the list of steps with which the first operator sets up a new site. */
export function setUpListPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const path = adminPath(base, '/setup');

  const page = async (): Promise<Page> => {
    const steps = await listSteps(deps, app.site);
    const next = steps.find(({ state }) => state === 'open');
    const body = html`${next ? '' : notice('good', 'The site is set up.')}
      ${card({
        title: 'Set up',
        body: html`<p class="soft">Each step can wait: it stays on this list until it is done. Changes need no restart,
            except those of the environment.</p>
          <ol class="checklist">${steps.map((one) => stepItem({ base, path }, one, one === next))}</ol>
          ${next ? button({ to: path, text: 'Nothing more is needed', hidden: { step: REST, is: 'closed' } }) : ''}`,
      })}`;
    return { title: 'Set up', ...adminFrame({ base, part: '/system', body }) };
  };

  const openSteps = async () =>
    (await listSteps(deps, app.site)).filter(({ state }) => state === 'open').map(({ step }) => step);

  app.get('/setup', OPERATOR, async (request, reply) => sendPage(request, reply, await page()));

  formRoute(app, {
    path: '/setup',
    access: OPERATOR,
    schema: z.object({ step: z.enum([...SET_UP_STEPS, REST]), is: z.enum(['closed', 'open']) }),
    run: async ({ by, data: { step, is } }) => {
      const steps = step === REST ? await openSteps() : [step];
      for (const one of steps) await setStepClosed(deps, { step: one, isClosed: is === 'closed', by });
      return path;
    },
  });
}

function stepItem(
  { base, path }: { base: string; path: string },
  { step, title, why, links, state }: ListedStep,
  isNext: boolean,
): Html {
  const mark = (is: 'closed' | 'open', text: string) =>
    button({ to: path, text, hidden: { step, is }, of: title });
  const [close, closed] = step === 'checks' ? ['I have looked', 'done'] : ['Not needed', 'not needed'];
  if (state === 'done') return html`<li class="done"><span>${title} ${badge('good', 'done')}</span></li>`;
  if (state === 'closed') {
    return html`<li class="done"><span>${title} ${badge('quiet', closed)}</span>
      ${mark('open', 'Take it up again')}</li>`;
  }
  const kind = isNext ? 'button' : 'button quiet';
  const ways = links.map((link) => html`<a class="${kind}" href="${base}${link.path}">${link.text}</a>`);
  return html`<li><span>${title}</span><span class="soft small">${why}</span>
    <div class="actions">${ways}${mark('closed', close)}</div></li>`;
}
