import {
  DEFINED,
  defaultText,
  FOR_OPERATORS,
  SECRETS,
  SECRETS_IN_FILES,
  SETTINGS,
} from '../../src/platform/settings/definitions.ts';
import type { Section, Setting } from '../../src/platform/settings/setting.ts';
import { traceSettings } from '../../src/platform/settings/trace-settings.ts';
import { fieldOf, GROUP_NAMES, GROUPS, PAGES, settingsOf } from '../../src/settings/changeable.ts';
import { COMPOSE_VARIABLES } from './compose-variables.ts';
import { code, type Generated, listed, part, table } from './generated.ts';

/** The settings that the chart sets itself, and those that the image and the chart's ports fix. */
export const OF_THE_CHART = [
  'HOST',
  'METRICS_HOST',
  'METRICS_PORT',
  'PORT',
  'PUBLIC_URL',
  'SHUTDOWN_DELAY_MS',
  'TRUST_PROXY',
];

const DOCUMENT = 'docs/operating/settings.md';
const EXAMPLE_WIDTH = 120;

type Defined = (typeof DEFINED)[number];

/** The settings for operators by their section. */
const sections: [Section, Defined[]][] = [
  ...Map.groupBy(
    DEFINED.filter(([name]) => FOR_OPERATORS.has(name)),
    ([, { section }]) => section,
  ),
];

export const SETTINGS_FILES: Generated[] = [
  { file: '.env.example', make: () => `${envExample().join('\n')}\n` },
  part(DOCUMENT, 'settings', settingsTables),
  part(DOCUMENT, 'changeable settings', changeableTable),
  part(
    DOCUMENT,
    'secrets in files',
    () => `These settings are secrets: ${listed(SECRETS_IN_FILES.map(code))}.`,
  ),
  part(DOCUMENT, 'settings of traces', () =>
    tableOf(DEFINED.filter(([name]) => Object.hasOwn(traceSettings, name))),
  ),
  { file: 'ops/helm/tallyport/values.schema.json', make: withSettingsOfChart },
];

function envExample(): string[] {
  return [
    ...comment(
      'Copy to .env; every command and process reads it. Variables of the environment take precedence. Compose passes .env to its containers, which have addresses and ports of their own: HOST, PORT, METRICS_HOST, METRICS_PORT, MONGODB_URI, REDIS_URL. You need no setting for `npm run demo` and `npm start`.',
    ),
    '#',
    ...comment(
      '`tallyport config check` shows every setting with its source, and what is wrong or risky. docs/operating/settings.md explains the settings that need care.',
    ),
    '#',
    ...comment(
      `A secret may be in a file, as Docker and Kubernetes mount them: NAME_FILE is its path. This works for ${listed(SECRETS_IN_FILES)}. Set the value or the file, not both.`,
    ),
    '#SECRET_KEY_FILE=/run/secrets/secret_key',
    ...sections.flatMap(([{ title, about }, settings]) => [
      ...heading(title, about),
      ...settings.flatMap(([name, one]) => variable(name, exampleOf(name, one), descriptionOf(one))),
    ]),
    ...heading('Compose only'),
    ...Object.entries(COMPOSE_VARIABLES).flatMap(([name, { value, description }]) =>
      variable(name, value, description),
    ),
  ];
}

function heading(title: string, about?: string): string[] {
  return ['', `## ${title}`, ...(about ? [...comment(about), '#'] : [])];
}

function variable(name: string, value: string, description?: string): string[] {
  return [...(description ? comment(description) : []), `#${name}=${value}`];
}

function exampleOf(name: string, { example }: Setting): string {
  return example ?? defaultText(name) ?? '';
}

/** Lines of a comment. Names of settings are without backticks; a command in backticks stays in one line. */
function comment(text: string): string[] {
  const lines = ['#'];
  const words = text.replace(/`([A-Z][A-Z\d_]+)`/g, '$1').match(/([^\s`]*`[^`]*`)+[^\s`]*|\S+/g) ?? [];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= EXAMPLE_WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`# ${word}`);
  }
  return lines;
}

function descriptionOf({ description, unit }: Setting): string {
  return unit ? `${description} In ${unit}.` : description;
}

function settingsTables(): string {
  return sections
    .filter(([, [[name = ''] = []]]) => !Object.hasOwn(traceSettings, name))
    .flatMap(([{ title, about }, settings]) => [`**${title}.** ${about ?? ''}`.trim(), tableOf(settings)])
    .join('\n\n');
}

function tableOf(settings: Defined[]): string {
  const rows = settings.map(([name, one]) => {
    const text = defaultText(name);
    const file = one.secret ? ' A secret: may be in a file.' : '';
    return [code(name), text === null ? 'none' : code(text), `${linked(descriptionOf(one))}${file}`];
  });
  return table(['Setting', 'Default', 'What it does'], rows);
}

/** Makes links of the documents that a text names. */
function linked(text: string): string {
  return text.replace(/docs\/([\w/-]+\.md)(#[\w-]+)?/g, (_, path: string, anchor = '') =>
    path === 'operating/settings.md' ? `[below](${anchor})` : `[${path}](../${path}${anchor})`,
  );
}

function changeableTable(): string {
  const rows = Object.entries(PAGES).map(([page, text]) => {
    const groups = GROUP_NAMES.filter((group) => GROUPS[group].page === page);
    return [text, groups.map(settingsOfGroup).join(', ')];
  });
  return table(['Page', 'Settings'], rows);
}

function settingsOfGroup(group: (typeof GROUP_NAMES)[number]): string {
  const { title, hasOwnForms } = GROUPS[group];
  const names = settingsOf(group);
  if (!hasOwnForms) return names.map(code).join(', ');
  return names.length === 1 ? title : `${title} (${names.map((name) => fieldOf(name).label).join(', ')})`;
}

/** The names that `settings` of the chart may have. The file keeps its form. */
function withSettingsOfChart(now: string): string {
  const open = SETTINGS.filter((name) => !OF_THE_CHART.includes(name) && !SECRETS.has(name));
  const names = [...open, ...SECRETS_IN_FILES.map((name) => `${name}_FILE`)].toSorted();
  const lines = names.map((name) => `\n        "${name}"`).join(',');
  const made = now.replace(/("setting": \{\s+"enum": \[)[^\]]*/, `$1${lines}\n      `);
  if (!made.includes(`[${lines}\n`)) throw new Error('values.schema.json has no enum of "setting"');
  return made;
}
