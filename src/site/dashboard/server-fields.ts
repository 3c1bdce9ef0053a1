import { z } from 'zod';
import type { Edition } from '../../games/editions.ts';
import { knownGame, listGames } from '../../games/games.ts';
import { t } from '../../language/t.ts';
import { InvalidDocumentError } from '../../platform/document.ts';
import { TAKEN } from '../../servers/drafts.ts';
import { MOVE_TAKEN } from '../../servers/moves.ts';
import { secondSettingsOf } from '../../servers/second-address.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { contactText } from '../shared/contact.ts';
import { countries } from '../shared/country-names.ts';
import type { Site } from '../shared/decorate-site.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import type { RefusedForm } from '../shared/form-route.ts';
import { gameName } from '../shared/game-names.ts';
import { type Html, html } from '../shared/html.ts';
import { PORT_LENGTH } from '../shared/parts.ts';

const portText = z.string().transform((value) => Number(value.trim() === '' ? Number.NaN : value));
const textOrNull = z.string().transform((value) => (value.trim() === '' ? null : value));
const portOrNull = z.string().transform((value) => (value.trim() === '' ? null : Number(value)));

/** Only converts the values: the schema of servers validates them later. */
export const serverForm = z.object({
  name: z.string(),
  address: z.string(),
  port: portText,
  game: textOrNull,
  queryPort: portOrNull,
  // A page that an earlier version sent has no such fields.
  secondAddress: textOrNull.default(null),
  secondPort: portOrNull.default(null),
  countryCode: textOrNull,
});

export const addressForm = serverForm.pick({ address: true, port: true });
export const secondForm = serverForm.pick({ secondAddress: true, secondPort: true });

/** Changing these fields needs no ownership proof. */
export const detailsForm = serverForm.omit({
  address: true,
  port: true,
  secondAddress: true,
  secondPort: true,
});

/** The games that can be chosen. If several games have the same name, only one of them is here. */
const GAMES = listGames().filter(({ id, name }) => knownGame(name).id === id);

/** The refusal, with the operator's contact, if another server has the address; undefined for any other error. */
export function namingContact(site: Site, error: unknown): RefusedForm | undefined {
  if (!(error instanceof InvalidDocumentError)) return undefined;
  const taken = Object.entries(error.errors).filter(
    ([, text]) => text === t(TAKEN) || text === t(MOVE_TAKEN),
  );
  if (taken.length === 0) return undefined;
  const named = taken.map(([field, text]) => [field, `${text}${contactText(site)}`]);
  return { errors: { ...error.errors, ...Object.fromEntries(named) } };
}

export function serverNameField(typed: Typed): Html {
  return fieldsOf(typed).text('name', {
    label: t('Name'),
    hint: t('Shown in the list of servers.'),
    required: true,
    maxlength: 200,
  });
}

export function addressFields(typed: Typed): Html {
  const fields = fieldsOf(typed);
  return html`<div class="row place">
    ${fields.text('address', {
      label: t('Address'),
      hint: t('Host name or IP address'),
      required: true,
      maxlength: 253,
      spellcheck: false,
      placeholder: 'play.example.org',
    })}
    ${fields.text('port', {
      label: t('Port'),
      hint: t('The port for players'),
      required: true,
      inputmode: 'numeric',
      maxlength: PORT_LENGTH,
      placeholder: '25565',
    })}
  </div>`;
}

export function gameFields(typed: Typed): Html {
  const fields = fieldsOf(typed);
  const hint = t(
    'Type to search. Leave empty if your game is not in the list; the status then comes from the server’s own reports.',
  );
  return html`${fields.text('game', {
    label: t('Game'),
    hint,
    list: 'games',
    maxlength: 100,
    spellcheck: false,
  })}
    <datalist id="games">${GAMES.map(({ name }) => html`<option value="${name}"></option>`)}</datalist>
    <div class="row">
      ${fields.text('queryPort', {
        label: t('Query port (optional)'),
        hint: t('Only if it is not the default'),
        inputmode: 'numeric',
        maxlength: PORT_LENGTH,
      })}
      ${fields.select('countryCode', {
        label: t('Country (optional)'),
        hint: t('Location of the server'),
        value: '',
        options: [['', t('Not specified')], ...countries()],
      })}
    </div>`;
}

/** `edition`: that of the second address; null while the game is not known. */
export function secondFields(typed: Typed, edition: Edition | null): Html {
  const fields = fieldsOf(typed);
  const usual = { java: '25565', bedrock: '19132' }[edition ?? 'bedrock'];
  return html`<div class="row place">
    ${fields.text('secondAddress', {
      label: edition ? t('Address') : t('For the other edition (optional)'),
      hint: edition
        ? t('Host name or IP address')
        : t('Only for Minecraft: the second address, for Java or Bedrock Edition'),
      maxlength: 253,
      spellcheck: false,
      placeholder: edition === 'java' ? 'play.example.org' : 'bedrock.example.org',
    })}
    ${fields.text('secondPort', {
      label: t('Port (optional)'),
      hint: edition ? t('{port} if empty', { port: usual }) : t('The usual one if empty'),
      inputmode: 'numeric',
      maxlength: PORT_LENGTH,
      placeholder: usual,
    })}
  </div>`;
}

export function valuesOf(server: Server | ServerDraft): Typed {
  const { name, address, port, game, queryPort, countryCode } = server;
  const { secondAddress, secondPort } = 'probe' in server ? secondSettingsOf(server) : server;
  return {
    values: {
      name,
      address,
      port: String(port),
      game: gameName(game),
      queryPort: queryPort ? String(queryPort) : '',
      secondAddress: secondAddress ?? '',
      secondPort: secondPort ? String(secondPort) : '',
      countryCode: countryCode ?? '',
    },
    errors: {},
  };
}
