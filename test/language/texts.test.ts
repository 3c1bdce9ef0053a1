import { expect, test } from 'vitest';
import { textsIn } from '../../tools/generated/texts.ts';

test('the texts of the code are those that calls name: literals, also in conditions and in objects', () => {
  const code = `
    t('One'); t("Two {of}", { of: t(isThree ? 'Three' : FOUR) }); defineMessage(\`Five\`);
    sourceText({ 400: 'Six', six: 'Seven' }); explanation('Eight', 'Nine');
    t(CODES[code] ?? 'Ten'); html\`<p>\${t('Eleven')}</p>\`; other('Twelve');`;
  expect(textsIn(code).join(' ')).toBe('One Two {of} Three Five Six Seven Eight Nine Ten Eleven');
});
