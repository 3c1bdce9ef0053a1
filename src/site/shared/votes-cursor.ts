import { z } from 'zod';
import { parseVotesCursor } from '../../votes/read-votes.ts';

/** An invalid value counts as absent. */
export const votesCursor = z.string().transform(parseVotesCursor).optional().catch(undefined);
