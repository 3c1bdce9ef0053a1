import { t } from '../../language/t.ts';
import { KIND_NAMES, KINDS, type Kind } from '../../notifications/kinds.ts';
import { PageError } from '../error-pages.ts';
import { type Html, html } from './html.ts';
import { checkbox } from './parts.ts';

/**
 * The kinds whose boxes are ticked, in forms of {@link kindBoxes}.
 *
 * @throws {PageError} for a form without the boxes: nothing in it is no choice
 */
export function chosenKinds(values: Record<string, string>): Kind[] {
  if (values.kinds !== 'chosen') throw new PageError(400, t('The form was incomplete. Reload the page.'));
  return KIND_NAMES.filter((kind) => values[`kind-${kind}`] === 'yes');
}

/** One box for each kind of notification. */
export function kindBoxes(isOn: (kind: Kind) => boolean, prefix: string): Html {
  const boxes = KIND_NAMES.map((kind) => {
    const { title, hint } = KINDS[kind];
    return checkbox({
      name: `kind-${kind}`,
      id: `${prefix}-${kind}`,
      label: t(title),
      hint: t(hint),
      checked: isOn(kind),
    });
  });
  return html`<input type="hidden" name="kinds" value="chosen" />${boxes}`;
}
