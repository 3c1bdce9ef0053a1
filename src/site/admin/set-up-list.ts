import { DEFAULTS } from '../../platform/settings/definitions.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readClosedSteps, SET_UP_STEPS, type SetUpStep } from '../../settings/set-up-step.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Content, html } from '../shared/html.ts';
import { card } from '../shared/parts.ts';
import { adminPath } from './admin-frame.ts';

/** A step of the set-up with its texts, and whether it is still open. */
export type ListedStep = {
  step: SetUpStep;
  title: string;
  why: string;
  /** The pages on which an operator does this step, each with the text of its link. */
  links: { path: string; text: string }[];
  /** `closed`: an operator marked the step as not needed, or as seen. */
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

/** All steps in their order. The settings and the data decide whether a step is done. */
export async function listSteps(deps: AppDeps, site: Site): Promise<ListedStep[]> {
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
    // Tallyport cannot know whether an operator has read the results of the checks. So operators close this step.
    checks: false,
    mail: config.SMTP_URL !== undefined,
    contact: site.contact !== undefined || site.pages.has('contact'),
    imprint: site.pages.has('imprint'),
    look: [config.ACCENT_COLOUR, config.LOGO, config.LOGO_PICTURE].some((value) => value !== undefined),
    servers: server !== null,
  };
}

/** A card with a link to the open steps of the set-up; empty if none is open. */
export async function setUpCard(deps: AppDeps, site: Site): Promise<Content> {
  const steps = await listSteps(deps, site);
  const open = steps.filter(({ state }) => state === 'open');
  const [next] = open;
  if (!next) return '';
  return card({
    title: 'Set up',
    actions: html`<a class="button" href="${adminPath(site.base, '/setup')}">Go on with the set-up</a>`,
    body: html`<p>${steps.length - open.length} of ${steps.length} steps are done. Next: ${next.title}.</p>`,
  });
}
