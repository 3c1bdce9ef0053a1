import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { InvalidDocumentError } from '../../../platform/document.ts';
import { isId } from '../../../servers/slug.ts';
import {
  COUNTED_LATER,
  COUNTED_OPEN,
  decideHeld,
  HELD_DECISIONS,
  type HeldDecision,
  MOST_DECIDED,
} from '../../../votes/exclusions/decide-held.ts';
import { exclusionsOfGroup, requestPlayerInclusion } from '../../../votes/exclusions/player-exclusion.ts';
import { blockGroup } from '../../../votes/exclusions/quarantine.ts';
import type { VoteExclusion } from '../../../votes/exclusions/vote-exclusion.ts';
import { userOf } from '../../guard-routes.ts';
import { OPERATOR } from '../../route-options.ts';
import { queryText } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { count, counted } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { adminPath } from '../admin-frame.ts';
import { idField } from '../exclusion-form.ts';
import { minuteOf } from '../utc-fields.ts';
import { type Inbox, pickedIds, wholeNumber } from './inbox.ts';
import { resultNotice } from './inbox-parts.ts';
import { inboxPath } from './inbox-tabs.ts';

/** The stored reason if an operator excludes held votes with a button of the inbox. */
const CONFIRMED = 'Unusual votes, excluded after a quarantine.';

const decisionForm = z.object({ decision: z.enum(HELD_DECISIONS), seen: z.iso.datetime() });

/** The forms for held votes: to decide about groups of them, to undo such a decision, and to block a network. */
export function heldForms({ app, deps, base, numbers }: Inbox): void {
  formRoute(app, {
    path: '/attention/held',
    access: OPERATOR,
    schema: decisionForm,
    run: async ({ request, data: { decision, seen } }) => {
      const quarantineIds = pickedIds(request, MOST_DECIDED);
      if (quarantineIds.length === 0) return inboxPath(base, 'held', { done: 'none' });
      const until = new Date(Math.min(Date.parse(seen), deps.clock.now().getTime()));
      const by = userOf(request).email;
      const decided = await decideHeld(deps, decision, { quarantineIds, until }, { by, reason: CONFIRMED });
      numbers.forget();
      const { groupId, missed, later, left } = decided;
      return inboxPath(base, 'held', {
        done: decision,
        group: groupId.toHexString(),
        missed: missed ? String(missed) : undefined,
        later: later ? String(later) : undefined,
        left: left ? String(left) : undefined,
      });
    },
  });

  formRoute(app, {
    path: '/attention/held/undo',
    access: OPERATOR,
    schema: z.object({ group: idField }),
    run: async ({ request, data: { group } }) => {
      const undone = await requestPlayerInclusion(deps, new ObjectId(group), userOf(request).email);
      numbers.forget();
      return undone.length > 0
        ? inboxPath(base, 'held', { done: 'undone' })
        : refused(404, 'There is no such decision.');
    },
  });

  formRoute(app, {
    path: '/attention/held/block',
    access: OPERATOR,
    schema: z.object({ origin: z.string() }),
    run: async ({ request, data: { origin } }) => {
      const block = await blockGroup(deps, origin, userOf(request).email);
      return block
        ? inboxPath(base, 'held', { done: 'blocked', block: block._id.toHexString() })
        : refused(409, 'There are no such held votes. Somebody may have decided about them already.');
    },
    refusalOf: (error) =>
      error instanceof InvalidDocumentError ? { status: 409, errors: error.errors } : undefined,
  });
}

type Query = Record<string, string>;

/** After the redirect from a form of `heldForms`: a notice with the result. `query` is the query of the redirect. */
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
      'The network is blocked for 30 days, everywhere within five seconds. Its held votes stay held.',
      button({ to, text: 'Undo', of: 'the block' }),
    );
  }
  const decision = HELD_DECISIONS.find((one) => one === done);
  if (!decision || !isId(group)) return '';
  const exclusions = await exclusionsOfGroup(deps, new ObjectId(group));
  return decisionResult(base, { decision, exclusions, group, query });
}

/** A group's number of servers as text: `12`. At `COUNTED_OPEN`, where counting stops: `… or more`. */
export function serverCount(servers: number): string {
  return servers >= COUNTED_OPEN ? `${count(COUNTED_OPEN)} or more` : count(servers);
}

type Result = { decision: HeldDecision; exclusions: VoteExclusion[]; group: string; query: Query };

function decisionResult(base: string, { decision, exclusions, group, query }: Result): Html {
  const missed = wholeNumber(query.missed);
  const later = wholeNumber(query.later);
  const left = wholeNumber(query.left);
  const decided = new Set(exclusions.map(({ serverId }) => serverId.toHexString())).size;
  const servers = left
    ? `${count(decided)} of ${serverCount(decided + left)} servers`
    : counted(decided, 'server');
  const done =
    decision === 'lift'
      ? `The held votes of ${servers} will be counted and delivered, within a minute.`
      : `The held votes of ${servers} stay out of the counts and are not delivered.`;
  const laterText = `${later >= COUNTED_LATER ? `${count(COUNTED_LATER)} or more votes` : counted(later, 'vote')}`;
  const text = [
    exclusions.length > 0 ? done : '',
    left > 0 ? 'The others are still in this list: decide again.' : '',
    missed > 0 ? `Another operator decided first about the votes of ${counted(missed, 'server')}.` : '',
    later > 0
      ? `${laterText} came after you opened the page. Later votes stay held, and are back in this list within a minute.`
      : '',
  ];
  const actions =
    exclusions.length === 0
      ? ''
      : html`${undoOf(base, decision, exclusions, group)}
      <a href="${adminPath(base, '/votes')}#exclusions">Progress</a>`;
  return resultNotice(
    missed > 0 || later > 0 || left > 0 ? 'attention' : 'good',
    text.filter(Boolean).join(' '),
    actions,
  );
}

/**
 * How to undo a decision. For an exclusion: a button. If votes of one server were lifted: a link to the form that
 * excludes votes. If votes of several servers were lifted: empty.
 */
function undoOf(base: string, decision: HeldDecision, exclusions: VoteExclusion[], group: string): Content {
  if (decision === 'exclude') {
    const to = adminPath(base, '/attention/held/undo');
    return button({ to, text: 'Undo: count and deliver', hidden: { group }, of: 'the excluded votes' });
  }
  const [only, ...others] = exclusions;
  if (!only || others.length > 0) return '';
  const range = { server: only.serverId.toHexString(), since: minuteOf(only.since) };
  return html`<a
    href="${adminPath(base, `/votes/exclude${queryText(range)}`)}">Take votes out of the counts again…</a>`;
}
