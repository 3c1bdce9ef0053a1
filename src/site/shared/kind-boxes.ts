import { z } from 'zod';
import { t } from '../../language/t.ts';
import { KIND_NAMES, KINDS, type Kind } from '../../notifications/kinds.ts';
import { type Html, html } from './html.ts';
import { checkbox } from './parts.ts';

/**
 * Browsers do not send unchecked boxes, so `kinds` distinguishes a form without a chosen kind from an incomplete one.
 */
export const kindsForm = z.looseObject({ kinds: z.literal('chosen') });

export function chosenKinds(values: Record<string, string>): Kind[] {
  return KIND_NAMES.filter((kind) => values[`kind-${kind}`] === 'yes');
}

export function kindBoxes(isOn: (kind: Kind) => boolean, prefix: string): Html {
  const boxes = KIND_NAMES.map((kind) =>
    checkbox({
      name: `kind-${kind}`,
      id: `${prefix}-${kind}`,
      label: t(KINDS[kind].title),
      hint: t(KINDS[kind].hint),
      checked: isOn(kind),
    }),
  );
  return html`<input type="hidden" name="kinds" value="chosen" />${boxes}`;
}
