import type { Platform } from '../../platform.ts';
import { PAGE } from '../page-route.ts';

/** What the pages of this folder work with. */
export type DeskSources = { platform: Platform };

/** Every route of the desk is for operators. */
export const OPERATOR = { ...PAGE, config: { access: 'operator' } } as const;
