import { otherEdition } from '../games/editions.ts';
import type { Game } from '../games/games.ts';
import { t } from '../language/t.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import type { AddressState } from './checked-state.ts';
import type { ServerAddress } from './listed-addresses.ts';
import type { Server } from './server.ts';
import type { ServerSettings } from './server-settings.ts';

export type SecondSettings = Pick<ServerSettings, 'secondAddress' | 'secondPort'>;

/**
 * The settings with the port in full: without one, the usual port of the edition.
 *
 * @throws {InvalidDocumentError} if a server of this game can have no second address
 */
export function secondSettings(settings: SecondSettings & { game: string | null }): SecondSettings {
  const { game, secondAddress, secondPort } = settings;
  if (secondAddress === null) {
    if (secondPort === null) return { secondAddress: null, secondPort: null };
    throw new InvalidDocumentError({ secondAddress: t('Enter the address for this port too.') });
  }
  const other = otherEdition(game);
  if (!other) {
    throw new InvalidDocumentError({
      secondAddress: t('Only a server of Minecraft can have a second address, for its other edition.'),
    });
  }
  return { secondAddress, secondPort: secondPort ?? other.port };
}

export function secondAddressOf({
  secondAddress,
  secondPort,
}: Partial<Record<keyof SecondSettings, unknown>>): ServerAddress | null {
  return typeof secondAddress === 'string' && typeof secondPort === 'number'
    ? { address: secondAddress, port: secondPort }
    : null;
}

export function secondSettingsOf({ second }: Pick<Server, 'second'>): SecondSettings {
  return { secondAddress: second?.address ?? null, secondPort: second?.port ?? null };
}

/** With its game; null if the server has one address. */
export function secondOf<S extends object>({
  game,
  second,
}: {
  game?: string | null | undefined;
  second?: S | null | undefined;
}): (S & { game: Game }) | null {
  const other = second ? otherEdition(game) : null;
  return second && other ? { ...second, game: other } : null;
}

export function newSecond(
  settings: SecondSettings,
  firstState: AddressState,
  unchecked: AddressState,
  proof?: Server['proof'],
): NonNullable<Server['second']> | undefined {
  const address = secondAddressOf(settings);
  return address ? { ...address, ...(proof ? { proof } : {}), state: unchecked, firstState } : undefined;
}

/** Of a server with one address, as that address's own state. */
export function stateOfOnly({ probe, current }: Pick<Server, 'probe' | 'current'>): AddressState {
  const {
    nextAt: _n,
    urgent: _u,
    scheduledAt: _s,
    claim: _c,
    claimSeconds: _t,
    revision: _r,
    ...state
  } = probe;
  const hasAnswered = probe.status === 'online' && !current.playersHidden;
  return { ...state, onlinePlayers: hasAnswered ? current.onlinePlayers : null };
}
