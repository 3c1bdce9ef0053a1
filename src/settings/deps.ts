import type { Collection } from 'mongodb';
import type { PlatformDeps } from '../platform/deps.ts';
import type { LiveSettings } from './live-settings.ts';
import type { LogoUpload } from './logo-upload.ts';
import type { ClosedStep } from './set-up-step.ts';
import type { StoredSettings } from './stored-settings.ts';

export type SettingsDeps = PlatformDeps & {
  /** Keeps `config` up to date. */
  liveSettings: LiveSettings;
  logoUploads: Collection<LogoUpload>;
  setUpSteps: Collection<ClosedStep>;
  settings: Collection<StoredSettings>;
};
