import type { z } from 'zod';

type Options = [value: string, text: string][];

/** The field of a setting in the admin area, whose words are English. A secret gets a password field. */
export type Field<Group extends string = string> = {
  /** A group of `GROUPS` (settings/changeable.ts). */
  group: Group;
  label: string;
  hint: string;
  kind?: 'number' | 'lines' | 'page' | 'picture';
  options?: Options;
};

export type About<Group extends string = string> = {
  /** For `.env.example` and the documentation. Values and names are in backticks, a document is `docs/….md`. */
  description: string;
  unit?: 'milliseconds' | 'months';
  /** A value for `.env.example`, if the default does not show how one looks. */
  example?: string;
  /** The value is shown nowhere and sealed if it is stored, and `NAME_FILE` may name a file with it. */
  secret?: true;
  /** Why production does not start without it: the end of the error. */
  neededInProduction?: string;
  /** Only tests change it: the end of the error if another process does. */
  onlyForTests?: string;
  /** Only older versions used it. */
  former?: true;
  /** A page or a picture is only stored, because it fits into no variable. This one names its folder or file. */
  variable?: 'SITE_PAGES_DIR' | 'LOGO';
  /** Operators may change it while processes run. It must not be needed before the database is reached. */
  field?: Field<Group>;
};

/** A part of `.env.example` and of the documentation. */
export type Section = { title: string; about?: string };

/** A setting. The schema converts the text of the variable, or the stored text, and has the default. */
export type Setting<Schema extends z.ZodType = z.ZodType, Group extends string = string> = About<Group> & {
  schema: Schema;
};

export const ON_OFF: Options = [
  ['on', 'On'],
  ['off', 'Off'],
];

export function setting<Schema extends z.ZodType, Group extends string = never>(
  schema: Schema,
  about: About<Group>,
): Setting<Schema, Group> {
  return { schema, ...about };
}

export function settingsSection<Settings extends Record<string, { schema: z.ZodType }>>(
  section: Section,
  settings: Settings,
) {
  const entries = Object.entries(settings).map(([name, one]) => [name, { ...one, section }]);
  return Object.fromEntries(entries) as { [Name in keyof Settings]: Settings[Name] & { section: Section } };
}
