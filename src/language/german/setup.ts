/** Texts of the page on which the first operator is made. */
export const SETUP = {
  'Set up this site': 'Diese Seite einrichten',
  'This site has no operator yet. Whoever has a setup link becomes its operator. On the machine of the site, run one of these:':
    'Diese Seite hat noch keinen Betreiber. Wer einen Einrichtungslink hat, wird ihr Betreiber. Führe auf dem Rechner der Seite eines davon aus:',
  'Command with npm': 'Befehl mit npm',
  'Command with Compose': 'Befehl mit Compose',
  'Open the link that it prints, or paste the link here.':
    'Öffne den Link, den er ausgibt, oder füge den Link hier ein.',
  'Setup link or its code': 'Einrichtungslink oder sein Code',
  'The code is what follows “token=”. It works once, within an hour.':
    'Der Code ist, was nach „token=“ steht. Er gilt einmal, eine Stunde lang.',
  'This code does not work. It was already used, it is more than one hour old, a newer one was made, or it is incomplete.':
    'Dieser Code funktioniert nicht. Er wurde schon benutzt, er ist über eine Stunde alt, es gibt einen neueren, oder er ist unvollständig.',
  'Make the operator': 'Betreiber anlegen',
  'This account runs the site. After it, you set up a second factor, and then the site’s name, mail, contact and look.':
    'Dieses Konto betreibt die Seite. Danach richtest du einen zweiten Faktor ein, und dann Name, E-Mail, Kontakt und Aussehen der Seite.',
  'This site has an operator': 'Diese Seite hat einen Betreiber',
  'The operator was made a moment ago, with this or another link. Nothing was changed now.':
    'Der Betreiber wurde gerade eben angelegt, mit diesem oder einem anderen Link. Jetzt wurde nichts geändert.',
  'If that was you, <a>sign in</a>.': 'Wenn du das warst, <a>melde dich an</a>.',
  'You are the operator now. Sign in to continue.':
    'Du bist jetzt der Betreiber. Melde dich an, um fortzufahren.',
  'Continue without a second factor': 'Ohne zweiten Faktor fortfahren',
} as const;
