import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { DEFAULTS } from '../../platform/settings/definitions.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readClosedSteps, SET_UP_STEPS, type SetUpStep, setStepClosed } from '../../settings/set-up-step.ts';
import { OPERATOR } from '../route-options.ts';
import { pageHead } from '../shared/deck.ts';
import type { Site } from '../shared/decorate-site.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { badge, button, notice } from '../shared/parts.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';

const REST = 'rest';

export function setUpListPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const path = adminPath(base, '/setup');

  const page = async (): Promise<Page> => {
    const steps = await listSteps(deps, app.site);
    const next = steps.find(({ state }) => state === 'open');
    const rest = { to: path, text: 'Nothing more is needed', hidden: { step: REST, is: 'closed' } };
    const head = pageHead({
      title: 'Set up',
      actions: next && button(rest),
      text: 'Each step can wait: it stays on this list until it is done. Changes need no restart, except those of the environment.',
    });
    const items = steps.map((one) => stepItem({ base, path }, one, one === next));
    const body = html`${next ? '' : notice('good', 'The site is set up.')}
      <section class="card"><ol class="set-up">${items}</ol></section>`;
    return adminPage({ base, part: '/system', title: 'Set up', head, body });
  };

  app.get('/setup', OPERATOR, async (request, reply) => sendPage(request, reply, await page()));

  formRoute(app, {
    path: '/setup',
    access: OPERATOR,
    schema: z.object({ step: z.enum([...SET_UP_STEPS, REST]), is: z.enum(['closed', 'open']) }),
    run: async ({ by, data: { step, is } }) => {
      const open = (await listSteps(deps, app.site)).filter(({ state }) => state === 'open');
      const steps = step === REST ? open.map((one) => one.step) : [step];
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
  if (state === 'done') return html`<li><span>${title}</span>${badge('good', 'done')}</li>`;
  if (state === 'closed') {
    const again = mark('open', 'Take it up again');
    return html`<li><span>${title}</span><div class="actions">${badge('quiet', closed)}${again}</div></li>`;
  }
  const kind = isNext ? 'button' : 'button quiet';
  const ways = links.map((link) => html`<a class="${kind}" href="${base}${link.path}">${link.text}</a>`);
  return html`<li><span><b>${title}</b><span class="soft small">${why}</span></span>
    <div class="actions">${ways}${mark('closed', close)}</div></li>`;
}

type ListedStep = {
  step: SetUpStep;
  title: string;
  why: string;
  links: { path: string; text: string }[];
  /** `closed`: marked as not needed, or as seen. */
  state: 'open' | 'done' | 'closed';
};

type Step = Pick<ListedStep, 'title' | 'why' | 'links'>;

const settings = (part: string, text: string) => ({ path: `/operator/settings${part}`, text });

const STEPS: Record<SetUpStep, Step> = {
  name: {
    title: 'Name the site',
    why: 'The name is in the head of every page, in mails and in authenticator apps.',
    links: [settings('#site', 'Name the site')],
  },
  checks: {
    title: 'Look at what the site saw',
    why: 'Public address, HTTPS, proxy, mail, clock and versions, each with what to do about it.',
    links: [{ path: '/operator/system#checks', text: 'Look at the checks' }],
  },
  mail: {
    title: 'Set the mail server and send a test mail',
    why: 'Without mail, addresses are not confirmed and nobody can reset a password.',
    links: [settings('/mail', 'Set the mail server')],
  },
  contact: {
    title: 'Say how users reach you',
    why: 'The contact is shown where users need you, and in the footer.',
    links: [settings('#site', 'Set the contact')],
  },
  imprint: {
    title: 'Write the imprint',
    why: 'Many countries ask for one. “Settings” has the pages on privacy and terms too.',
    links: [settings('/pages/imprint', 'Write the imprint')],
  },
  look: {
    title: 'Choose logo and colour',
    why: 'With a preview before you save.',
    links: [settings('#look', 'Choose the colour'), settings('/logo', 'Upload a logo')],
  },
  servers: {
    title: 'Add or import your first servers',
    why: 'Import takes the servers, votes and figures of another listing: tallyport import --help (docs/import-export.md).',
    links: [{ path: '/dashboard/servers/new', text: 'Add a server' }],
  },
};

async function listSteps(deps: AppDeps, site: Site): Promise<ListedStep[]> {
  const [closed, done] = await Promise.all([readClosedSteps(deps), doneSteps(deps, site)]);
  return SET_UP_STEPS.map((step) => ({
    step,
    ...STEPS[step],
    state: done[step] ? 'done' : closed.has(step) ? 'closed' : 'open',
  }));
}

async function doneSteps({ config, servers }: AppDeps, site: Site): Promise<Record<SetUpStep, boolean>> {
  const server = await servers.findOne({}, { sort: { _id: 1 }, projection: { _id: 1 } });
  return {
    name: site.name !== DEFAULTS.SERVICE_NAME,
    // Only operators know whether they have read the results: they close this step.
    checks: false,
    mail: config.SMTP_URL !== undefined,
    contact: site.contact !== undefined || site.pages.has('contact'),
    imprint: site.pages.has('imprint'),
    look: [config.ACCENT_COLOUR, config.LOGO, config.LOGO_PICTURE].some((value) => value !== undefined),
    servers: server !== null,
  };
}

/** One line on the first page of the admin area, until all steps are done. */
export async function setUpLine(deps: AppDeps, site: Site): Promise<Content> {
  const steps = await listSteps(deps, site);
  const open = steps.filter(({ state }) => state === 'open');
  const [next] = open;
  if (!next) return '';
  return notice(
    'quiet',
    html`<div class="actions"><span>Set up: ${steps.length - open.length} of ${steps.length} steps are done. Next:
      ${next.title}.</span><a href="${adminPath(site.base, '/setup')}">Go on with the set-up</a></div>`,
  );
}
