/** A condition on a label: `queue=~"forward-votes|drain-backlogs"`. */
export type Matcher = { label: string; operator: '=' | '!=' | '=~' | '!~'; value: string };

/** A metric in an expression, with its conditions. */
export type Selector = { metric: string; matchers: Matcher[] };

const KEYWORDS = new Set(['and', 'or', 'unless', 'by', 'without', 'on', 'ignoring', 'bool', 'offset']);
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';

/** Reads the metrics of an expression in PromQL, and the labels by which it groups. promtool checks the syntax. */
export function readPromql(expression: string): { selectors: Selector[]; groupedBy: string[] } {
  const groupedBy: string[] = [];
  const plain = expression
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, labels: string) => {
      groupedBy.push(...labels.split(',').map((label) => label.trim()));
      return ' ';
    });
  const selector = new RegExp(`(?<![\\w.])(${NAME})\\s*(\\(|\\{((?:[^"}]|${STRING})*)\\})?`, 'g');
  const selectors = [...plain.matchAll(selector)]
    .filter(([, name = '', after]) => after !== '(' && !KEYWORDS.has(name))
    .map(([, metric = '', , conditions = '']) => ({ metric, matchers: readMatchers(conditions) }));
  return { selectors, groupedBy };
}

function readMatchers(conditions: string): Matcher[] {
  const matcher = new RegExp(`(${NAME})\\s*(=~|!~|!=|=)\\s*(${STRING})`, 'g');
  return [...conditions.matchAll(matcher)].map(([, label = '', operator, value = '""']) => ({
    label,
    operator: operator as Matcher['operator'],
    value: JSON.parse(value),
  }));
}

/** Whether a label's value meets the condition. */
export function meets({ operator, value }: Matcher, actual: string): boolean {
  const equal = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(actual) : actual === value;
  return operator.startsWith('!') ? !equal : equal;
}
