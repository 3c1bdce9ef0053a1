import type { FastifyInstance } from 'fastify';
import { SECOND } from '../../platform/clock.ts';
import { SEEN_EVERY_MS } from '../../platform/processes/running-process.ts';
import { type ListedProcess, listProcesses, type RunningSoftware } from '../../process/list-processes.ts';
import { OPERATOR } from '../route-options.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { badge, card, dataTable, notice, type Tone } from '../shared/parts.ts';
import { type AdminParts, adminPage } from './admin-frame.ts';
import { checkSite, type SiteCheck } from './site-checks.ts';

export function systemPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  app.get('/system', OPERATOR, async (request, reply) => {
    const [checks, software] = await Promise.all([checkSite(deps, request), listProcesses(deps)]);
    const body = html`${processCard(software, deps.clock.now())} ${migrationCard(software)}
      ${checkCard(checks)}`;
    return sendPage(request, reply, adminPage({ base, part: '/system', title: 'System', body }));
  });
}

/** At least one process of each kind must run. */
const NEEDED = {
  worker: 'No worker runs: votes are accepted, but not forwarded.',
  scheduler: 'No scheduler runs: servers are not checked, and figures and ranks are not computed.',
};

const NO_PROCESS = `No process has recorded that it runs. Each does so within ${SEEN_EVERY_MS / SECOND} seconds of its start.`;

function processCard({ processes, versions, earlierHosts }: RunningSoftware, now: Date): Html {
  const missing = Object.entries(NEEDED).filter(
    ([kind]) => !processes.some((one) => one.kind === kind && !one.isLost),
  );
  return card({
    title: 'Processes',
    id: 'processes',
    body: html`${missing.map(([, sentence]) => notice('bad', sentence))}
      ${versionNotice(versions, earlierHosts)}
      ${dataTable<ListedProcess>({
        caption: 'Processes',
        rows: processes,
        empty: NO_PROCESS,
        columns: [
          { title: 'Process', heads: true, cell: ({ kind }) => kind },
          { title: 'Version', cell: ({ version }) => version },
          {
            title: 'Machine',
            kind: 'address',
            cell: ({ _id }) => html`<span class="mono">${machineOf(_id)}</span>`,
          },
          { title: 'Started', cell: ({ startedAt }) => timeAgo(startedAt, now) },
          {
            title: 'State',
            cell: ({ isLost, seenAt }) =>
              isLost
                ? html`${badge('bad', 'not seen')} since ${timeAgo(seenAt, now)}`
                : badge('good', 'runs'),
          },
        ],
      })}`,
  });
}

function versionNotice(versions: string[], earlierHosts: string[] | null): Content {
  const all = versions.toSorted().join(' and ');
  const from = earlierHosts?.join(', ');
  return [
    versions.length > 1 &&
      notice('attention', `Processes of several versions run (${all}): replace the earlier ones.`),
    from &&
      notice('attention', `Processes of version 0.1.0, which record nothing, are connected from ${from}.`),
  ];
}

/** `web-1` and the process number, without the last part of the id: `web-1:7`. */
function machineOf(processId: string): string {
  return processId.split(':').slice(0, -1).join(':');
}

function migrationCard({ pending }: RunningSoftware): Html {
  const names = html`<ul class="plain">${pending.map((name) => html`<li class="mono">${name}</li>`)}</ul>`;
  return card({
    title: 'Migrations',
    id: 'migrations',
    body:
      pending.length === 0
        ? html`<p>${badge('good', 'none pending')} The database is that of the versions that run.</p>`
        : html`${notice('bad', 'Migrations are pending. Run `tallyport migrate` of the newest version.')}${names}`,
  });
}

const WORDS: Record<SiteCheck['tone'], string> = { good: 'good', attention: 'look at it', bad: 'wrong' };

function checkCard(checks: SiteCheck[]): Html {
  return card({
    title: 'What the site saw',
    id: 'checks',
    body: html`<p class="soft">From this request and this web process. <code>tallyport config check --connect</code>
        checks more.</p>
      <dl class="facts">${checks.map(
        ({ id, title, tone, saw, mend }) => html`<div id="check-${id}"><dt>${title}</dt>
          <dd>${badge(tone satisfies Tone, WORDS[tone])} ${saw}
            ${mend ? html`<p><strong>To do:</strong> ${mend}</p>` : ''}</dd></div>`,
      )}</dl>`,
  });
}
