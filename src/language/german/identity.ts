/** Names and SteamIDs of players on the vote form, and signing in through Steam. */
export const IDENTITY = {
  'As in the game, for example Steve.': 'Wie im Spiel, zum Beispiel Steve.',
  'As in the game, for example Steve. On Bedrock Edition with “{prefix}” before it, as this server shows it.':
    'Wie im Spiel, zum Beispiel Steve. Bei der Bedrock Edition mit „{prefix}“ davor, wie dieser Server den Namen zeigt.',
  'Your SteamID': 'Deine SteamID',
  'The 17 digits, or the address of your Steam profile. The game server finds your reward by it.':
    'Die 17 Ziffern oder die Adresse deines Steam-Profils. Daran erkennt der Spielserver, wer die Belohnung bekommt.',
  'Your gamertag, as in the game.': 'Dein Gamertag, wie im Spiel.',
  'This is not a gamertag: it has at most 16 letters, digits and spaces.':
    'Das ist kein Gamertag: Er hat höchstens 16 Buchstaben, Ziffern und Leerzeichen.',
  'This is not a Minecraft name: it has 3 to 16 letters from a to z, digits and underscores. A name of Bedrock Edition begins with “{prefix}” here.':
    'Das ist kein Minecraft-Name: Er hat 3 bis 16 Buchstaben von a bis z, Ziffern und Unterstriche. Ein Name der Bedrock Edition beginnt hier mit „{prefix}“.',
  'This is not a name of this server: it has at most 16 letters from a to z, digits, underscores, dots and hyphens.':
    'Das ist kein Name dieses Servers: Er hat höchstens 16 Buchstaben von a bis z, Ziffern, Unterstriche, Punkte und Bindestriche.',
  'This is not a name of Minecraft: it has at most 16 letters, digits, underscores and single spaces.':
    'Das ist kein Name von Minecraft: Er hat höchstens 16 Buchstaben, Ziffern, Unterstriche und einzelne Leerzeichen.',
  'This is not a name of Minecraft: it has at most 16 letters, digits and underscores.':
    'Das ist kein Name von Minecraft: Er hat höchstens 16 Buchstaben, Ziffern und Unterstriche.',
  'Names of Bedrock Edition have no prefix (username-prefix is empty)':
    'Namen der Bedrock Edition haben kein Präfix (username-prefix ist leer)',
  'They keep their spaces (replace-spaces: false)': 'Sie behalten ihre Leerzeichen (replace-spaces: false)',
  'Names of offline mode: also with one or two characters, dots and hyphens':
    'Namen des Offline-Modus: auch mit einem oder zwei Zeichen, Punkten und Bindestrichen',
  'This is not a Minecraft name: it has 3 to 16 letters from a to z, digits and underscores.':
    'Das ist kein Minecraft-Name: Er hat 3 bis 16 Buchstaben von a bis z, Ziffern und Unterstriche.',
  'This address has a name of your choice, and not your SteamID. Open Steam, click your name at the top right, then “Account details”: the 17 digits are under your name.':
    'Diese Adresse enthält einen selbst gewählten Namen und nicht deine SteamID. Öffne Steam, klicke oben rechts auf deinen Namen, dann auf „Accountdetails“: Unter deinem Namen stehen die 17 Ziffern.',
  'This address has a name of your choice, and not your SteamID. Press “Sign in through Steam” here instead. Or open Steam, click your name at the top right, then “Account details”: the 17 digits are under your name.':
    'Diese Adresse enthält einen selbst gewählten Namen und nicht deine SteamID. Drücke hier stattdessen auf „Über Steam anmelden“. Oder öffne Steam, klicke oben rechts auf deinen Namen, dann auf „Accountdetails“: Unter deinem Namen stehen die 17 Ziffern.',
  'This is not a SteamID. It has 17 digits and begins with 7656. Open Steam, click your name at the top right, then “Account details”: the digits are under your name.':
    'Das ist keine SteamID. Sie hat 17 Ziffern und beginnt mit 7656. Öffne Steam, klicke oben rechts auf deinen Namen, dann auf „Accountdetails“: Die Ziffern stehen unter deinem Namen.',
  'must have at most {max} letters, digits or signs, without a space':
    'darf höchstens {max} Buchstaben, Ziffern oder Zeichen haben, ohne Leerzeichen',
  'This server does not ask for a SteamID.': 'Dieser Server fragt nicht nach einer SteamID.',
  'This server takes votes only from players who signed in through Steam.':
    'Dieser Server nimmt nur Stimmen von Spielern an, die sich über Steam angemeldet haben.',
  'This server takes votes only from players who signed in through Steam. Your vote is not used up: sign in on the vote page, then vote.':
    'Dieser Server nimmt nur Stimmen von Spielern an, die sich über Steam angemeldet haben. Deine Stimme ist nicht verbraucht: Melde dich auf der Abstimmungsseite an, dann stimme ab.',
  'Steam tells this listing your SteamID, and nothing else. You need no account here.':
    'Steam nennt diesem Verzeichnis deine SteamID und sonst nichts. Du brauchst hier kein Konto.',
  'Sign in through Steam': 'Über Steam anmelden',
  'Voting as <strong>{id}</strong>, confirmed by Steam.':
    'Du stimmst ab als <strong>{id}</strong>, von Steam bestätigt.',
  'Not you?': 'Nicht du?',
  'You cancelled the sign-in through Steam.': 'Du hast die Anmeldung über Steam abgebrochen.',
  'Steam’s answer cannot be used. Sign in through Steam again.':
    'Die Antwort von Steam ist nicht verwendbar. Melde dich noch einmal über Steam an.',
  'Steam did not confirm this answer. Sign in through Steam again.':
    'Steam hat diese Antwort nicht bestätigt. Melde dich noch einmal über Steam an.',
  'This sign-in was used before. Sign in through Steam again.':
    'Diese Anmeldung wurde schon verwendet. Melde dich noch einmal über Steam an.',
  'The sign-in through Steam took too long. Sign in again.':
    'Die Anmeldung über Steam hat zu lange gedauert. Melde dich noch einmal an.',
  'Steam does not answer at the moment, so your SteamID could not be confirmed. Try again later.':
    'Steam antwortet gerade nicht, darum konnte deine SteamID nicht bestätigt werden. Versuche es später noch einmal.',
  'This answer of Steam is for another page. Sign in through Steam again.':
    'Diese Antwort von Steam ist für eine andere Seite. Melde dich noch einmal über Steam an.',
  'This sign-in through Steam is for another server. Sign in here again.':
    'Diese Anmeldung über Steam ist für einen anderen Server. Melde dich hier noch einmal an.',
  'This sign-in through Steam did not begin in this browser, or it took too long. Sign in again.':
    'Diese Anmeldung über Steam hat nicht in diesem Browser begonnen oder zu lange gedauert. Melde dich noch einmal an.',
  'Names of players': 'Namen der Spieler',
  'What names of Bedrock Edition begin with': 'Womit Namen der Bedrock Edition beginnen',
  'The username-prefix of Floodgate. Leave it empty if only players of Java Edition can join.':
    'Der username-prefix von Floodgate. Lass das Feld leer, wenn nur Spieler der Java Edition mitspielen können.',
  'The vote form takes names of Minecraft: Java Edition, and names of Bedrock Edition as Floodgate makes them. Votes of the API take every name.':
    'Das Abstimmungsformular nimmt Namen der Minecraft: Java Edition an, und Namen der Bedrock Edition mit diesem Präfix. Stimmen der API nehmen jeden Namen an.',
  'Steam players': 'Steam-Spieler',
  'Players may type any SteamID into the vote form. If you require a sign-in through Steam, only the player with that SteamID can vote with it. Votes of the API are not affected.':
    'Spieler können im Abstimmungsformular jede SteamID eingeben. Wenn du eine Anmeldung über Steam verlangst, kann nur der Spieler mit dieser SteamID damit abstimmen. Stimmen der API sind nicht betroffen.',
  'The vote form takes only SteamIDs that Steam confirmed. Votes of the API are not affected.':
    'Das Abstimmungsformular nimmt nur SteamIDs an, die Steam bestätigt hat. Stimmen der API sind nicht betroffen.',
  'Require a sign-in through Steam': 'Anmeldung über Steam verlangen',
  'Take every SteamID': 'Jede SteamID annehmen',
  Identity: 'Identität',
  'proven: Steam confirmed the SteamID': 'bestätigt: Steam hat die SteamID bestätigt',
  proven: 'bestätigt',
  'If you sign in through Steam on a vote form, Steam learns that you do and on which server’s page, and tells {name} your SteamID. A cookie keeps it for {duration}; {name} stores it only with your votes.':
    'Wenn du dich in einem Abstimmungsformular über Steam anmeldest, erfährt Steam das und auf welcher Seite, und nennt {name} deine SteamID. Ein Cookie merkt sie sich ({duration} lang); {name} speichert sie nur mit deinen Stimmen.',
  'If you sign in through Steam on a vote form, one cookie ties the sign-in to your browser for {short}, and one remembers your SteamID for {long}, until you press “Not you?”.':
    'Wenn du dich in einem Abstimmungsformular über Steam anmeldest, bindet ein Cookie die Anmeldung an deinen Browser ({short} lang), und eines merkt sich deine SteamID ({long} lang), bis du auf „Nicht du?“ drückst.',
} as const;
