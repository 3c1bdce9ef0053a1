import { defineMessage, type Text } from '../../language/t.ts';
import type { ComplaintKind } from '../../moderation/complaint.ts';

export const COMPLAINT_TEXTS: Record<ComplaintKind, Text> = {
  'fake-figures': defineMessage('Its players or votes are not real'),
  offensive: defineMessage('Its name, text or pictures are offensive'),
  scam: defineMessage('It cheats or harms players'),
  'not-theirs': defineMessage('It uses another server’s name or address'),
  other: defineMessage('Something else'),
};
