import type { WithId } from 'mongodb';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { ExclusionError } from '../../votes/exclusions/request-exclusion.ts';
import { inProgress, type VoteExclusion } from '../../votes/exclusions/vote-exclusion.ts';
import { countMarked } from '../../votes/search-votes.ts';
import { queryText, type Typed } from '../shared/form.ts';
import { type RefusedForm, refused } from '../shared/form-route.ts';
import { counted, time, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { badge, button, confirmed, dataTable } from '../shared/parts.ts';
import { hiddenFields, reasonedDecision, reasonFields } from './admin-fields.ts';
import { adminPath, type NamedServer, serverLink, serverNames } from './admin-frame.ts';

export function exclusionRefusal(error: unknown): RefusedForm | undefined {
  return error instanceof ExclusionError ? refused(400, error.message) : undefined;
}

export function excludingForm(form: {
  to: string;
  hidden: Record<string, string>;
  typed: Typed;
  reader: string;
  votes: string;
  back: string;
}): Html {
  const { to, hidden, typed, reader, votes, back } = form;
  return html`<form method="post" action="${to}" class="stack fields">
    ${hiddenFields(hidden)}
    ${reasonFields({
      typed,
      forOwner: { name: 'reasonForOwner', reader },
      internal: { name: 'reason', required: true },
    })}
    <div class="actions">
      <button class="danger" type="submit">Exclude ${votes}</button>
      <a class="button quiet" href="${back}">Cancel</a>
    </div>
  </form>`;
}

type Row = {
  exclusion: VoteExclusion;
  server: NamedServer | undefined;
  token: string | undefined;
  /** How many votes the exclusion has now. Counted only for blocks and while it is in progress. */
  marked: number | undefined;
};

export async function exclusionList(
  deps: AppDeps,
  base: string,
  exclusions: VoteExclusion[],
  of: WithId<Server> | null,
): Promise<{ html: Html; inProgress: boolean }> {
  const rows = await rowsOf(deps, exclusions);
  const isOpen = exclusions.some((one) => inProgress(one));
  const now = deps.clock.now();
  const path = adminPath(base, `/votes/exclusions${queryText({ server: of?._id.toHexString() })}`);
  const table = dataTable<Row>({
    caption: 'Exclusions, newest first',
    rows,
    empty: of ? 'No votes of this server have been excluded.' : 'No votes have been excluded.',
    columns: [
      ...(of
        ? []
        : [{ title: 'Server', cell: ({ server }: Row) => (server ? serverLink(base, server) : 'removed') }]),
      { title: 'Votes cast', heads: true, cell: ({ exclusion, token }) => range(exclusion, token) },
      { title: 'Reason', cell: ({ exclusion }) => reasons(exclusion) },
      {
        title: 'By',
        kind: 'address',
        cell: ({ exclusion }) => html`${exclusion.by}, ${timeAgo(exclusion.at, now)}`,
      },
      { title: 'State', cell: (row) => state(row, now) },
      { title: 'Decide', cell: ({ exclusion }) => undo(base, exclusion, of !== null) },
    ],
  });
  const polling = isOpen
    ? html`data-hx-get="${path}" data-hx-trigger="every 3s" data-hx-swap="outerMorph"`
    : '';
  return {
    inProgress: isOpen,
    html: html`<div id="exclusion-list" aria-live="polite" ${polling}>${table}</div>`,
  };
}

async function rowsOf(deps: AppDeps, exclusions: VoteExclusion[]): Promise<Row[]> {
  const serverIds = exclusions.map(({ serverId }) => serverId);
  const tokenIds = exclusions.flatMap(({ tokenId }) => tokenId ?? []);
  const [servers, tokens] = await Promise.all([
    serverNames(deps, serverIds),
    deps.apiTokens.find({ _id: { $in: tokenIds } }).toArray(),
  ]);
  return Promise.all(
    exclusions.map(async (exclusion) => ({
      exclusion,
      server: servers.get(exclusion.serverId.toHexString()),
      token: tokens.find(({ _id }) => exclusion.tokenId?.equals(_id))?.name,
      marked: inProgress(exclusion) || exclusion.blockId ? await countMarked(deps, exclusion) : undefined,
    })),
  );
}

function reasons({ reason, reasonForOwner }: VoteExclusion): Html {
  const forOwner = html` <span class="soft">For the owner: “<bdi>${reasonForOwner}</bdi>”</span>`;
  return html`<bdi>${reason}</bdi>${reasonForOwner ? forOwner : ''}`;
}

function range({ since, until, tokenId, username, state }: VoteExclusion, token: string | undefined): Html {
  if (state === 'quarantined') return html`since ${time(since)}, with the vote form`;
  const by = tokenId ? html`, with the token <bdi>${token ?? tokenId.toHexString()}</bdi>` : '';
  const player = username ? html`, of the player <bdi>${username}</bdi>` : '';
  const from = since.getTime() === 0 ? 'all' : time(since);
  return html`${from} to ${time(until)}${by}${player}`;
}

function state({ exclusion, marked = 0 }: Row, now: Date): Content {
  const votes = counted(exclusion.votes ?? 0, 'vote');
  switch (exclusion.state) {
    case 'quarantined':
      return badge('attention', 'quarantined');
    case 'excluding':
    case 'excluding-player':
    case 'confirming':
      return html`${badge('attention', 'in progress')} ${counted(marked, 'vote')} so far`;
    case 'including':
    case 'releasing':
      return html`${badge('attention', 'undoing')} ${counted(marked, 'vote')} left`;
    case 'excluded':
      return html`${badge('good', 'excluded')} ${exclusion.blockId ? counted(marked, 'vote') : votes}`;
    case 'included': {
      const { undone } = exclusion;
      return html`${badge('quiet', 'undone')} ${undone ? html`by ${undone.by}, ${timeAgo(undone.at, now)}` : ''}`;
    }
  }
}

function undo(base: string, exclusion: VoteExclusion, ofOneServer: boolean): Content {
  const { _id, undone, votes, state, groupId } = exclusion;
  if (undone) return '';
  const id = _id.toHexString();
  if (state === 'quarantined') {
    const path = adminPath(base, `/votes/exclusions/${id}`);
    return html`<div class="actions">
      ${button({ to: `${path}/undo`, text: 'Count and deliver', of: `the votes of quarantine ${id}` })}
      <form method="post" action="${path}/exclude">${reasonedDecision({
        opens: html`Exclude…<span class="for-readers"> the votes of quarantine ${id}</span>`,
        button: 'Exclude',
        value: 'exclude',
        reader: 'the server’s owner',
        of: id,
        reason: exclusion.reason,
      })}</form>
    </div>`;
  }
  return confirmed({
    text: 'Undo…',
    of: `the exclusion ${id}`,
    consequence: `${votes === null || votes === undefined ? 'Its votes' : `Its ${counted(votes, 'vote')}`} will count again, except those covered by another exclusion.`,
    form: html`<div class="actions">
      ${button({
        to: adminPath(base, `/votes/exclusions/${id}/undo`),
        text: groupId ? 'Undo on this server' : 'Undo the exclusion',
        hidden: ofOneServer ? { list: 'server' } : {},
      })}
      ${
        groupId
          ? button({
              to: adminPath(base, `/votes/exclusions/players/${groupId.toHexString()}/undo`),
              text: 'Undo on all servers',
            })
          : ''
      }
    </div>`,
  });
}
