import { html } from 'hono/html';
import { z } from 'zod';
import { knownGame, listGames } from '../../games/games.ts';
import { LANGUAGES, type Language, LOCALES, languageNow } from '../../platform/language/language.ts';
import { t } from '../../platform/language/t.ts';
import { MOVE_TAKEN, TAKEN } from '../../servers/drafts.ts';
import { contactWords } from '../contact.ts';
import type { Typed } from '../form.ts';
import type { Html } from '../html.ts';
import { PORT_LENGTH, select, textField } from '../parts.ts';
import type { Site } from '../site-settings.ts';

/** A port as a number, NaN if empty; the feature validates it. */
const portText = z.string().transform((value) => Number(value.trim() === '' ? Number.NaN : value));
const textOrNull = z.string().transform((value) => (value.trim() === '' ? null : value));

/** A server form as the features expect it. They validate the values. */
export const serverForm = z.object({
  name: z.string(),
  address: z.string(),
  port: portText,
  game: textOrNull,
  queryPort: z.string().transform((value) => (value.trim() === '' ? null : Number(value))),
  countryCode: textOrNull,
});

/** The address part of a server form. */
export const addressForm = serverForm.pick({ address: true, port: true });

/** The details of a listed server, which can change without verification. */
export const detailsForm = serverForm.omit({ address: true, port: true });

const REGIONS = Object.fromEntries(
  LANGUAGES.map((language) => [language, regions(LOCALES[language])]),
) as Record<Language, [string, string][]>;

/** The countries of ISO 3166-1 by name: Unicode's list without groups and exceptional codes. */
function regions(locale: string): [string, string][] {
  const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' });
  const noCountry = new Set([
    'EU',
    'EZ',
    'UN',
    'QO',
    'XA',
    'XB',
    'ZZ',
    'AC',
    'CP',
    'CQ',
    'DG',
    'EA',
    'IC',
    'TA',
  ]);
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return letters
    .flatMap((first) => letters.map((second) => `${first}${second}`))
    .filter((code) => !noCountry.has(code) && new Intl.Locale(`und-${code}`).region === code)
    .map((code): [string, string] => [code, names.of(code) ?? ''])
    .filter(([, name]) => name !== '')
    .toSorted(([, a], [, b]) => a.localeCompare(b, locale));
}

const COUNTRIES = Object.fromEntries(
  LANGUAGES.map((language) => [language, new Map(REGIONS[language])]),
) as Record<Language, Map<string, string>>;

/** A country's name; its code if Unicode's list has none. */
export function countryName(code: string): string {
  return COUNTRIES[languageNow()].get(code) ?? code;
}

const GAME_NAMES = new Map(listGames().map(({ id, name }) => [id, name]));

/** A game's name; empty for none, its id if the list no longer has it. */
export function gameName(game: string | null | undefined): string {
  return game ? (GAME_NAMES.get(game) ?? game) : '';
}

/** Whether the list of games has this id. */
export function isGame(game: string): boolean {
  return GAME_NAMES.has(game);
}

/** The games to choose from: those that can be found by their name. Some are not probed. */
const GAMES = listGames().filter(({ id, name }) => knownGame(name).id === id);

/** Adds the operator's contact to an error that only the operator can solve. */
export function namingContact(site: Site, typed: Typed): Typed {
  const { address } = typed.errors;
  if (address !== TAKEN && address !== MOVE_TAKEN) return typed;
  return { ...typed, errors: { ...typed.errors, address: `${address}${contactWords(site)}` } };
}

export function nameField({ values, errors }: Typed): Html {
  return textField({
    name: 'name',
    label: t('Name'),
    hint: t('Shown in the list of servers.'),
    required: true,
    maxlength: 200,
    value: values.name ?? '',
    error: errors.name,
  });
}

export function addressFields({ values, errors }: Typed): Html {
  return html`<div class="row place">
    ${textField({ name: 'address', label: t('Address'), hint: t('Host name or IP address'), required: true, maxlength: 253, spellcheck: false, placeholder: 'play.example.org', value: values.address ?? '', error: errors.address })}
    ${textField({ name: 'port', label: t('Port'), hint: t('The port for players'), required: true, inputmode: 'numeric', maxlength: PORT_LENGTH, placeholder: '25565', value: values.port ?? '', error: errors.port })}
  </div>`;
}

export function gameFields({ values, errors }: Typed): Html {
  return html`${textField({ name: 'game', label: t('Game'), hint: t('Type to search. Leave empty if your game is not in the list; the status then comes from the server’s own reports.'), list: 'games', maxlength: 100, spellcheck: false, value: values.game ?? '', error: errors.game })}
    <datalist id="games">${GAMES.map(({ name }) => html`<option value="${name}"></option>`)}</datalist>
    <div class="row">
      ${textField({ name: 'queryPort', label: t('Query port (optional)'), hint: t('Only if it is not the default'), inputmode: 'numeric', maxlength: PORT_LENGTH, value: values.queryPort ?? '', error: errors.queryPort })}
      ${select({ name: 'countryCode', label: t('Country (optional)'), hint: t('Location of the server'), value: values.countryCode ?? '', error: errors.countryCode, options: [['', t('Not specified')], ...REGIONS[languageNow()]] })}
    </div>`;
}

/** The form with the current settings. */
export function valuesOf(of: {
  name: string;
  address: string;
  port: number;
  game?: string | null | undefined;
  queryPort?: number | null | undefined;
  countryCode?: string | null | undefined;
}): Typed {
  return {
    values: {
      name: of.name,
      address: of.address,
      port: String(of.port),
      game: gameName(of.game),
      queryPort: of.queryPort ? String(of.queryPort) : '',
      countryCode: of.countryCode ?? '',
    },
    errors: {},
  };
}
