import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { InvalidDocumentError } from '../../../platform/document.ts';
import { isId } from '../../../servers/slug.ts';
import { BLOCKS_APPLY_SECONDS } from '../../../votes/blocks/block-list.ts';
import { ORIGIN_BLOCKED_DAYS } from '../../../votes/blocks/change-blocks.ts';
import {
  COUNTED_LATER,
  COUNTED_OPEN,
  decideHeld,
  HELD_DECISIONS,
  type HeldDecision,
  MOST_DECIDED,
} from '../../../votes/exclusions/decide-held.ts';
import { exclusionsOfGroup, requestGroupInclusion } from '../../../votes/exclusions/player-exclusion.ts';
import { blockGroup } from '../../../votes/exclusions/quarantine.ts';
import type { VoteExclusion } from '../../../votes/exclusions/vote-exclusion.ts';
import { OPERATOR } from '../../route-options.ts';
import { queryText } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { count, counted } from '../../shared/format.ts';
import { type Content, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { idField, utcFieldValue } from '../admin-fields.ts';
import { adminPath } from '../admin-frame.ts';
import { backToList, formAddress, type Inbox, isOfAll, numberOrZero, pickedIds } from './inbox.ts';
import { resultNotice } from './inbox-parts.ts';

const decisionForm = z.object({
  decision: z.enum(HELD_DECISIONS),
  seen: z.iso.datetime(),
  reason: z.string().default(''),
  reasonForOwner: z.string().optional(),
});

export function heldForms({ app, deps, base, numbers }: Inbox): void {
  formRoute(app, {
    path: '/attention/held',
    access: OPERATOR,
    schema: decisionForm,
    run: async ({ request, by, data: { decision, seen, ...reasons } }) => {
      const quarantineIds = pickedIds(request, MOST_DECIDED);
      if (quarantineIds.length === 0) return backToList(request, base, 'held', { done: 'none' });
      const until = new Date(Math.min(Date.parse(seen), deps.clock.now().getTime()));
      const decided = await decideHeld(deps, { is: decision, ...reasons }, { quarantineIds, until }, by);
      numbers.forget();
      const { groupId, missed, later, left } = decided;
      return backToList(request, base, 'held', {
        done: decision,
        group: groupId.toHexString(),
        missed,
        later,
        left,
      });
    },
  });

  formRoute(app, {
    path: '/attention/held/undo',
    access: OPERATOR,
    schema: z.object({ group: idField }),
    run: async ({ request, by, data: { group } }) => {
      const undone = await requestGroupInclusion(deps, new ObjectId(group), by);
      numbers.forget();
      return undone.length > 0
        ? backToList(request, base, 'held', { done: 'undone' })
        : refused(404, 'There is no such decision.');
    },
  });

  formRoute(app, {
    path: '/attention/held/block',
    access: OPERATOR,
    schema: z.object({ origin: z.string() }),
    run: async ({ request, by, data: { origin } }) => {
      const block = await blockGroup(deps, origin, by);
      return block
        ? backToList(request, base, 'held', { done: 'blocked', block: block._id.toHexString() })
        : refused(409, 'There are no such held votes. Somebody may have decided about them already.');
    },
    refusalOf: (error) =>
      error instanceof InvalidDocumentError ? { status: 409, errors: error.errors } : undefined,
  });
}

type Query = Record<string, string>;

export async function heldResult(inbox: Inbox, query: Query): Promise<Content> {
  const { deps, base } = inbox;
  const { done = '', group = '', block = '' } = query;
  if (done === 'none') return resultNotice('attention', 'Select the held votes first.');
  if (done === 'undone')
    return resultNotice('good', 'Undone. The votes will be counted and delivered, within a minute.');
  if (done === 'blocked' && isId(block)) {
    const to = adminPath(base, `/blocks/${block}/lift`);
    return resultNotice(
      'good',
      `The network is blocked for ${ORIGIN_BLOCKED_DAYS} days, everywhere within ${BLOCKS_APPLY_SECONDS} seconds. Its held votes stay held.`,
      button({ to, text: 'Undo', of: 'the block' }),
    );
  }
  const decision = HELD_DECISIONS.find((one) => one === done);
  if (!decision || !isId(group)) return '';
  const decided = await exclusionsOfGroup(deps, new ObjectId(group));
  // After an undo, the address of the decision's result may be opened again.
  const exclusions = decided.filter(({ undone }) => decision === 'lift' || !undone);
  return decisionResult(base, { decision, exclusions, group, query });
}

/** Counting stops at `COUNTED_OPEN`: `… or more`. */
export function openCount(open: number): string {
  return open >= COUNTED_OPEN ? `${count(COUNTED_OPEN)} or more` : count(open);
}

function quarantines(number: number): string {
  return `${openCount(number)} ${number === 1 ? 'quarantine' : 'quarantines'}`;
}

type Result = { decision: HeldDecision; exclusions: VoteExclusion[]; group: string; query: Query };

function decisionResult(base: string, { decision, exclusions, group, query }: Result): Content {
  const missed = numberOrZero(query.missed);
  const later = numberOrZero(query.later);
  const left = numberOrZero(query.left);
  if (exclusions.length === 0 && missed === 0) return '';
  const servers = counted(serverIdsOf(exclusions).size, 'server');
  const done =
    decision === 'lift'
      ? `The held votes of ${servers} will be counted and delivered, within a minute.`
      : `The held votes of ${servers} stay out of the counts and are not delivered.`;
  const laterText = `${later >= COUNTED_LATER ? `${count(COUNTED_LATER)} or more votes` : counted(later, 'vote')}`;
  const text = [
    exclusions.length > 0 ? done : '',
    left > 0 ? `Still in this list: ${quarantines(left)}. Decide again.` : '',
    missed > 0 ? `Another operator decided first about ${quarantines(missed)}.` : '',
    later > 0
      ? `${laterText} came after you opened the page. Later votes stay held, and are back in this list within a minute.`
      : '',
  ];
  const actions =
    exclusions.length === 0
      ? ''
      : html`${undoOf(base, { decision, exclusions, group, query })}
      <a href="${adminPath(base, '/votes')}#exclusions">Progress</a>`;
  return resultNotice(
    missed > 0 || later > 0 || left > 0 ? 'attention' : 'good',
    text.filter(Boolean).join(' '),
    actions,
  );
}

/** Lifted votes are excluded again with the form, which takes one server. */
function undoOf(base: string, { decision, exclusions, group, query }: Result): Content {
  if (decision === 'exclude') {
    const to = formAddress(base, isOfAll(query))('/held/undo');
    return button({ to, text: 'Undo: count and deliver', hidden: { group }, of: 'the excluded votes' });
  }
  const [server, ...others] = serverIdsOf(exclusions);
  if (!server || others.length > 0) return '';
  const since = new Date(Math.min(...exclusions.map((one) => one.since.getTime())));
  const range = { server, since: utcFieldValue(since) };
  return html`<a
    href="${adminPath(base, `/votes/exclude${queryText(range)}`)}">Take votes out of the counts again…</a>`;
}

function serverIdsOf(exclusions: VoteExclusion[]): Set<string> {
  return new Set(exclusions.map(({ serverId }) => serverId.toHexString()));
}
