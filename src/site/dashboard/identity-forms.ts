import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BEDROCK_PREFIX, nameKindOf } from '../../games/player-names.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { LONGEST_PREFIX, requireProvenId, setPlayerNames } from '../../servers/vote-options.ts';
import { offersSteam } from '../../votes/identity/steam-players.ts';
import { OWNER } from '../route-options.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { button, card, checkbox } from '../shared/parts.ts';

/** The card with the settings about players' names. Empty if there are none for the server's game. */
export function identityCard(
  path: string,
  config: Pick<Config, 'STEAM_SIGN_IN'>,
  server: Server,
  typed = UNTOUCHED,
): Content {
  if (offersSteam(config, server)) return steamCard(`${path}/proven-id`, server);
  return nameKindOf(server.game) === 'minecraft' ? bedrockCard(`${path}/bedrock-prefix`, server, typed) : '';
}

function steamCard(to: string, { provenIdOnly }: Server): Html {
  const about = provenIdOnly
    ? t('The vote form takes only SteamIDs that Steam confirmed. Votes of the API are not affected.')
    : t(
        'Players may type any SteamID into the vote form. If you require a sign-in through Steam, only the player with that SteamID can vote with it. Votes of the API are not affected.',
      );
  const text = provenIdOnly ? t('Take every SteamID') : t('Require a sign-in through Steam');
  return card({
    id: 'identity',
    title: t('Steam players'),
    body: html`<p>${about}</p>${button({ to, text, hidden: { required: provenIdOnly ? 'no' : 'yes' } })}`,
  });
}

function bedrockCard(to: string, server: Server, typed: Typed): Html {
  const { values } = typed;
  const about = t(
    'The vote form takes names of Minecraft: Java Edition, and names of Bedrock Edition as Floodgate makes them. Votes of the API take every name.',
  );
  const box = (name: 'bedrockPlain' | 'bedrockSpaces' | 'offlineMode', label: string) =>
    checkbox({
      name,
      label,
      checked: 'bedrockPrefix' in values ? values[name] === 'yes' : server.playerNames?.[name] === true,
    });
  return card({
    id: 'identity',
    title: t('Names of players'),
    body: html`<p>${about}</p>
      <form method="post" action="${to}" class="stack">
        ${fieldsOf(typed).text('bedrockPrefix', {
          label: t('What names of Bedrock Edition begin with'),
          hint: t(
            'The username-prefix of Floodgate. Leave it empty if only players of Java Edition can join.',
          ),
          value: server.bedrockPrefix ?? BEDROCK_PREFIX,
          maxlength: 4 * LONGEST_PREFIX,
          autocomplete: 'off',
          autocapitalize: 'none',
          spellcheck: false,
        })}
        ${box('bedrockPlain', t('Names of Bedrock Edition have no prefix (username-prefix is empty)'))}
        ${box('bedrockSpaces', t('They keep their spaces (replace-spaces: false)'))}
        ${box('offlineMode', t('Names of offline mode: also with one or two characters, dots and hyphens'))}
        <button type="submit" class="quiet">${t('Save')}</button>
      </form>`,
  });
}

/** The forms of the card: the names of Minecraft, and whether votes need a sign-in through Steam. */
export function identityRoutes(
  app: FastifyInstance,
  deps: AppDeps,
  show: (request: FastifyRequest, typed: Typed) => Promise<Page>,
): void {
  formRoute(app, {
    path: '/servers/:serverId/settings/bedrock-prefix',
    access: OWNER,
    schema: z.object({
      bedrockPrefix: fieldText,
      bedrockPlain: z.string().optional(),
      bedrockSpaces: z.string().optional(),
      offlineMode: z.string().optional(),
    }),
    show,
    run: async ({ server, by, path, data }) => {
      await setPlayerNames(deps, server._id, data, by);
      return `${path('/settings')}?done=saved#identity`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/proven-id',
    access: OWNER,
    schema: z.object({ required: z.enum(['yes', 'no']) }),
    run: async ({ server, by, path, data }) => {
      await requireProvenId(deps, server._id, data.required === 'yes', by);
      return `${path('/settings')}?done=saved#identity`;
    },
  });
}
