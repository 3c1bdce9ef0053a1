import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import type { AppDeps } from '../../../process/app-deps.ts';
import { OPERATOR } from '../../route-options.ts';
import { formRoute } from '../../shared/form-route.ts';
import type { Content } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { adminPath } from '../admin-frame.ts';
import { type Inbox, type InboxTab, inboxPath, joinedIds, numberOrZero, pickedIds } from './inbox.ts';
import { resultNotice } from './inbox-parts.ts';

type Decision = {
  name: string;
  run(deps: AppDeps, ids: ObjectId[], by: string): Promise<number>;
  said(changed: number): string;
};

export type ItemDecisions = {
  tab: InboxTab;
  most: number;
  /** In the plural, for sentences: `reports`. */
  items: string;
  decision: Decision & {
    /** What the undo button undoes, for screen readers. */
    of: string;
    /** The sentence about items that other operators decided first. */
    missed(missed: number): string;
  };
  undo: Decision;
};

const path = (tab: InboxTab) => `/attention/${tab}`;

export function itemDecisionsForm({ app, deps, base, numbers }: Inbox, decisions: ItemDecisions): void {
  const { tab, most, decision, undo } = decisions;
  formRoute(app, {
    path: path(tab),
    access: OPERATOR,
    schema: z.object({ decision: z.enum([decision.name, undo.name]) }),
    run: async ({ request, by, data }) => {
      const ids = pickedIds(request, most);
      if (ids.length === 0) return inboxPath(base, tab, { done: 'none' });
      const { run } = data.decision === decision.name ? decision : undo;
      const changed = await run(deps, ids, by);
      numbers.forget();
      const missed = ids.length - changed;
      return inboxPath(base, tab, {
        done: data.decision,
        ids: joinedIds(ids),
        changed: String(changed),
        missed: missed ? String(missed) : undefined,
      });
    },
  });
}

export function itemDecisionsResult(
  base: string,
  { tab, items, decision, undo }: ItemDecisions,
  { done, ids = '', ...query }: Record<string, string>,
): Content {
  if (done === 'none') return resultNotice('attention', `Select the ${items} first.`);
  const changed = numberOrZero(query.changed);
  if (done === undo.name) return resultNotice('good', undo.said(changed));
  if (done !== decision.name) return '';
  const missed = numberOrZero(query.missed);
  const text = `${decision.said(changed)}${missed ? ` ${decision.missed(missed)}` : ''}`;
  const undoing = button({
    to: adminPath(base, path(tab)),
    text: 'Undo',
    hidden: { decision: undo.name, item: ids },
    of: decision.of,
  });
  return resultNotice(missed ? 'attention' : 'good', text, changed > 0 ? undoing : '');
}
