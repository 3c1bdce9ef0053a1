import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { InvalidDocumentError } from '../../../platform/document.ts';
import { decideHeld, HELD_DECISIONS, MOST_DECIDED } from '../../../votes/exclusions/decide-held.ts';
import { requestGroupInclusion } from '../../../votes/exclusions/player-exclusion.ts';
import { blockGroup } from '../../../votes/exclusions/quarantine.ts';
import { OPERATOR } from '../../route-options.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { idField } from '../exclusion-form.ts';
import { type Inbox, pickedIds } from './inbox.ts';
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
    run: async ({ request, by, data: { decision, seen } }) => {
      const quarantineIds = pickedIds(request, MOST_DECIDED);
      if (quarantineIds.length === 0) return inboxPath(base, 'held', { done: 'none' });
      const until = new Date(Math.min(Date.parse(seen), deps.clock.now().getTime()));
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
    run: async ({ by, data: { group } }) => {
      const undone = await requestGroupInclusion(deps, new ObjectId(group), by);
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
    run: async ({ by, data: { origin } }) => {
      const block = await blockGroup(deps, origin, by);
      return block
        ? inboxPath(base, 'held', { done: 'blocked', block: block._id.toHexString() })
        : refused(409, 'There are no such held votes. Somebody may have decided about them already.');
    },
    refusalOf: (error) =>
      error instanceof InvalidDocumentError ? { status: 409, errors: error.errors } : undefined,
  });
}
