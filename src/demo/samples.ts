import { z } from 'zod';
import { sample } from './sample.ts';
import samples from './samples.json' with { type: 'json' };

/**
 * The sample servers. The demo's introduction asks the user to vote for the first one. The first three belong to the
 * demo's owner.
 */
export const SAMPLES = z.array(sample).parse(samples);
