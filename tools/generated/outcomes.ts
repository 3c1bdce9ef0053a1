import { t } from '../../src/language/t.ts';
import type { Explanation } from '../../src/listeners/explanation.ts';
import { OTHER_SERVICES } from '../../src/listeners/outcomes/other-services.ts';
import {
  OUTCOME_CLASSES,
  SPECIAL_CASES,
  type SpecialCase,
} from '../../src/listeners/outcomes/outcome-definition.ts';
import { OUTCOME_CODES, OUTCOMES } from '../../src/listeners/outcomes.ts';
import { type Generated, code as inCode, part, table } from './generated.ts';

const FILE = 'docs/delivery.md';

const said = ({ cause, advice }: Explanation) => [t(cause), t(advice)];

function outcomes(): string {
  const rows = OUTCOME_CLASSES.flatMap((kind) =>
    OUTCOME_CODES.filter((code) => OUTCOMES[code].class === kind).map((code) => [
      inCode(code),
      kind,
      ...said(OUTCOMES[code].text),
    ]),
  );
  return table(['Code', 'Class', 'Cause', 'What to do'], rows);
}

function specialCases(): string {
  const rows = (Object.keys(SPECIAL_CASES) as SpecialCase[]).flatMap((one) =>
    OUTCOME_CODES.flatMap((code) => {
      const text = OUTCOMES[code].textFor?.[one];
      return text ? [[SPECIAL_CASES[one], inCode(code), ...said(text)]] : [];
    }),
  );
  return table(['Listener', 'Code', 'Cause', 'What to do'], rows);
}

function faults(): string {
  const codes = Map.groupBy(OUTCOME_CODES, (code) => OUTCOMES[code].fault);
  const rows = [...codes].flatMap(([fault, of]) =>
    fault ? [[inCode(fault), of.map(inCode).join(', ')]] : [],
  );
  return table(['Fault', 'Outcomes'], rows);
}

function otherServices(): string {
  const rows = Object.entries(OTHER_SERVICES).map(([fault, text]) => [inCode(fault), ...said(text)]);
  return table(['Fault', 'Cause', 'What to do'], rows);
}

/** The tables of outcomes and faults. */
export const OUTCOME_TABLES: Generated[] = [
  part(FILE, 'outcomes', outcomes),
  part(FILE, 'special cases', specialCases),
  part(FILE, 'faults', faults),
  part(FILE, 'other services', otherServices),
];
