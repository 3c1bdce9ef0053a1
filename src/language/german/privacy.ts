/** Texts of the privacy page and of the personal data that it lists. */
export const PRIVACY = {
  'Uploaded pictures': 'Hochgeladene Bilder',
  'The file as it came, with its metadata, until a worker has encoded it without them; the e-mail address of the sender':
    'Die Datei, wie sie kam, mit ihren Metadaten, bis sie ohne diese neu gespeichert ist; die E-Mail-Adresse des Absenders',
  'To show the banner or icon of the server': 'Um Banner oder Icon des Servers zu zeigen',
  'some seconds, at most {time}': 'einige Sekunden, höchstens {time}',
  'What {listing} stores about you, why, and for how long.':
    'Was {listing} über dich speichert, warum und wie lange.',
  'In short': 'In Kürze',
  'If you only look at pages, you get no cookie unless you choose a language or press a star, and nothing is loaded from other sites. There is no advertising and no analysis of visitors.':
    'Siehst du dir nur Seiten an, bekommst du kein Cookie, außer du wählst eine Sprache oder drückst einen Stern, und nichts wird von anderen Websites geladen. Es gibt keine Werbung und keine Auswertung der Besucher.',
  'A vote is stored with the player name that you enter. Your IP address is not stored with it, and the voted server does not get it.':
    'Eine Stimme wird mit dem Spielernamen gespeichert, den du eingibst. Deine IP-Adresse wird nicht dazu gespeichert, und der gewählte Server bekommt sie nicht.',
  'Signed-in users download their data and delete their account on the page <a>Account</a>.':
    'Angemeldete Nutzer laden ihre Daten auf der Seite <a>Konto</a> herunter und löschen dort ihr Konto.',
  'The operator of {name} can remove a player name from all votes and reviews.':
    'Der Betreiber von {name} kann einen Spielernamen aus allen Stimmen und Bewertungen entfernen.',
  'What is stored, why, and for how long': 'Was gespeichert wird, warum und wie lange',
  'Who else gets data': 'Wer sonst Daten bekommt',
  'When you sign in, a cookie keeps you signed in.':
    'Wenn du dich anmeldest, hält dich ein Cookie angemeldet.',
  'When you sign in, a cookie recognises your browser for {duration}, so that wrong passwords that others enter do not lock you out.':
    'Wenn du dich anmeldest, erkennt ein Cookie deinen Browser ({duration} lang), damit falsche Passwörter, die andere eingeben, dich nicht aussperren.',
  'If you choose a language, a cookie remembers it for a year.':
    'Wenn du eine Sprache wählst, merkt sich ein Cookie das ein Jahr lang.',
  'If you press a star without being signed in, a cookie remembers the server until you sign in, at most a day.':
    'Wenn du einen Stern drückst, ohne angemeldet zu sein, merkt sich ein Cookie den Server, bis du dich anmeldest, höchstens einen Tag.',
  Cookies: 'Cookies',
  'Stored in your browser only': 'Nur in deinem Browser gespeichert',
  'Scripts of the pages store these in your browser. No other site can read them.':
    'Skripte der Seiten speichern dies in deinem Browser. Keine andere Website kann es lesen.',
  '{data} Kept {time}.': '{data} Gespeichert {time}.',
  'The player name of your last vote without an account, to fill it in next time.':
    'Der Spielername deiner letzten Stimme ohne Konto, um ihn beim nächsten Mal einzutragen.',
  'until you press “Not …?” beside the name, or delete the data of this site':
    'bis du neben dem Namen auf „Nicht …?“ drückst oder die Daten dieser Website löschst',
  'The last 12 servers that you voted for, with the name and the time of the next vote, to show these times and to list the servers after a vote.':
    'Die letzten 12 Server, für die du gestimmt hast, mit dem Namen und der Zeit der nächsten Stimme, um diese Zeiten zu zeigen und die Server nach einer Stimme aufzuführen.',
  'a server for 30 days, or until you press “Not …?”':
    'ein Server 30 Tage lang, oder bis du auf „Nicht …?“ drückst',
  'That this tab has sent a vote, so that the two others are stored when it is accepted.':
    'Dass dieser Tab eine Stimme gesendet hat, damit die beiden anderen gespeichert werden, wenn sie angenommen ist.',
  'until the vote is accepted or the tab is closed': 'bis die Stimme angenommen oder der Tab geschlossen ist',
  'Whether you chose light or dark colours.': 'Ob du helle oder dunkle Farben gewählt hast.',
  'Whether you chose cards or the compact list of servers.':
    'Ob du Karten oder die kompakte Liste der Server gewählt hast.',
  'For operators: whether keys decide in the list of what needs attention.':
    'Für Betreiber: ob Tasten in der Liste der offenen Aufgaben entscheiden.',
  'until you delete the data of this site': 'bis du die Daten dieser Website löschst',
  'Logs and backups': 'Logs und Sicherungen',
  'The server’s log has a line for each refused sign-in and each used link for a password, with the IP address. The operator decides how long logs and backups are kept. They may contain what is no longer stored otherwise.':
    'Das Log des Servers hat eine Zeile für jede abgelehnte Anmeldung und jeden benutzten Link für ein Passwort, mit der IP-Adresse. Der Betreiber entscheidet, wie lange Logs und Sicherungen aufbewahrt werden. Sie können enthalten, was sonst nicht mehr gespeichert ist.',
  'Stored personal data': 'Gespeicherte persönliche Daten',
  What: 'Was',
  Data: 'Daten',
  Why: 'Warum',
  'How long': 'Wie lange',
  'Everybody sees reviews with their player name, and the names of a server’s top voters.':
    'Alle sehen Bewertungen mit ihrem Spielernamen und die Namen der fleißigsten Wähler eines Servers.',
  'The owner and the members of a server see who voted for it and when. Their vote listener gets the player name and the time of each vote, never your IP address.':
    'Der Besitzer und die Mitglieder eines Servers sehen, wer wann für ihn abgestimmt hat. Ihr Vote-Listener bekommt Spielernamen und Zeit jeder Stimme, nie deine IP-Adresse.',
  'Operators of {name} see all votes, reviews, users and the audit log.':
    'Betreiber von {name} sehen alle Stimmen, Bewertungen, Nutzer und das Protokoll.',
  'The mail server that the operator uses gets your e-mail address and the mails to you.':
    'Der Mailserver, den der Betreiber nutzt, bekommt deine E-Mail-Adresse und die Mails an dich.',
  'If an owner enters the address of a Discord webhook, Discord gets the notifications about the server, with the player name and the beginning of a new review.':
    'Gibt ein Besitzer die Adresse eines Discord-Webhooks ein, bekommt Discord die Benachrichtigungen über den Server, mit dem Spielernamen und dem Anfang einer neuen Bewertung.',
  'If you sign in with {site}, {site} learns that you do, and tells {name} your name, your e-mail address and the address of your picture there.':
    'Meldest du dich mit {site} an, erfährt {site} davon und teilt {name} deinen Namen, deine E-Mail-Adresse und die Adresse deines Bildes dort mit.',
  'If you sign in with {site}, {site} learns that you do, and tells {name} your name and your e-mail address there.':
    'Meldest du dich mit {site} an, erfährt {site} davon und teilt {name} deinen Namen und deine E-Mail-Adresse dort mit.',
  '{name} stores no access to your account there.': '{name} speichert keinen Zugang zu deinem Konto dort.',
  'until the account is deleted, {time} after you ask for it':
    'bis das Konto gelöscht ist (nach deiner Bitte: {time})',
  Accounts: 'Konten',
  'Name, e-mail address, role, settings, times; the address of a Discord picture; the reason of a suspension':
    'Name, E-Mail-Adresse, Rolle, Einstellungen, Zeiten; die Adresse eines Discord-Bildes; der Grund einer Sperre',
  'To sign in, manage servers and write reviews':
    'Um dich anzumelden, Server zu verwalten und Bewertungen zu schreiben',
  'Ways to sign in': 'Wege der Anmeldung',
  'A password as a scrypt hash, or the id of an account at another site':
    'Ein Passwort als scrypt-Hash oder die Id eines Kontos bei einer anderen Website',
  'To sign in': 'Um dich anzumelden',
  'Second factors': 'Zweite Faktoren',
  'The key of an authenticator app and backup codes, encrypted':
    'Der Schlüssel einer Authenticator-App und Ersatzcodes, verschlüsselt',
  'until you switch the second factor off or the account is deleted':
    'bis du den zweiten Faktor abschaltest oder das Konto gelöscht ist',
  'IP address, browser, times of sign-in and last use':
    'IP-Adresse, Browser, Zeiten der Anmeldung und letzten Nutzung',
  'To keep you signed in, and to show you where you are':
    'Um dich angemeldet zu halten und dir zu zeigen, wo du angemeldet bist',
  '{time} after the last use, or until you sign out':
    '{time} nach der letzten Nutzung oder bis du dich abmeldest',
  'Links by mail': 'Links in Mails',
  'E-mail address or account, a hash of the link, and the page to which it leads back':
    'E-Mail-Adresse oder Konto, ein Hash des Links und die Seite, zu der er zurückführt',
  'To confirm an address or to set a password': 'Um eine Adresse zu bestätigen oder ein Passwort zu setzen',
  'Changes of an e-mail address': 'Änderungen einer E-Mail-Adresse',
  'The present and the new address': 'Die jetzige und die neue Adresse',
  'To confirm the change at both addresses': 'Um die Änderung an beiden Adressen zu bestätigen',
  'until the change is done, at most {time} without a confirmation':
    'bis die Änderung fertig ist, ohne Bestätigung höchstens {time}',
  'Requests to delete an account': 'Bitten, ein Konto zu löschen',
  'Account, e-mail address, times': 'Konto, E-Mail-Adresse, Zeiten',
  'To delete the account after a delay, in which you can cancel it':
    'Um das Konto nach einer Frist zu löschen, in der du es abbrechen kannst',
  'Player name, server, time, how the vote was cast and delivered, and who sent it again':
    'Spielername, Server, Zeit, wie die Stimme abgegeben und zugestellt wurde und wer sie noch einmal sendete',
  'To allow one vote in 24 hours, to deliver votes to the server, to count them and to list the top voters':
    'Um eine Stimme in 24 Stunden zu erlauben, Stimmen an den Server zuzustellen, sie zu zählen und die fleißigsten Wähler zu zeigen',
  'The vote without a limit.': 'Die Stimme ohne Grenze.',
  'The player name without a limit; the operator removes it if you ask.':
    'Der Spielername ohne Grenze; der Betreiber entfernt ihn, wenn du darum bittest.',
  'The player name for {time}.': 'Der Spielername: {time}.',
  'Details of the delivery for {time}': 'Einzelheiten der Zustellung: {time}',
  'Repeated calls': 'Wiederholte Aufrufe',
  'Player name and answer of a vote that another website or a plugin cast':
    'Spielername und Antwort einer Stimme, die eine andere Website oder ein Plugin abgegeben hat',
  'To count a vote once if the call is repeated':
    'Um eine Stimme einmal zu zählen, wenn der Aufruf wiederholt wird',
  'Origins of votes on this site': 'Herkunft der Stimmen auf dieser Website',
  'Keyed hashes of the network (not the single IP address), of the mail address of an account, and of the player names; no plain addresses':
    'Hashes mit Schlüssel vom Netz (nicht von der einzelnen IP-Adresse), von der Mailadresse eines Kontos und von den Spielernamen; keine lesbaren Adressen',
  'Players who come back': 'Wiederkehrende Spieler',
  'A keyed hash of a network and a player name together, and on which days that player voted from it':
    'Ein Hash mit Schlüssel von Netz und Spielername zusammen, und an welchen Tagen dieser Spieler von dort abgestimmt hat',
  'To let more players of one network vote, such as a family or a school':
    'Um mehr Spieler eines Netzes abstimmen zu lassen, etwa eine Familie oder eine Schule',
  '{time} after the last vote from that network': '{time} nach der letzten Stimme aus diesem Netz',
  'To limit how many players of one network vote, and to find votes by machines':
    'Um zu begrenzen, als wie viele Spieler ein Netz abstimmt, und um Stimmen von Maschinen zu finden',
  'Blocked players and networks': 'Gesperrte Spieler und Netze',
  'A player name, a network or its keyed hash, the reason, and the e-mail address of the operator who decided':
    'Ein Spielername, ein Netz oder sein Hash mit Schlüssel, der Grund und die E-Mail-Adresse des Betreibers, der entschieden hat',
  'To keep votes of cheaters out': 'Um Stimmen von Betrügern fernzuhalten',
  'until {time} after the block has ended': 'nach dem Ende der Sperre noch {time}',
  'Excluded votes': 'Ausgeschlossene Stimmen',
  'The e-mail address of the operator who decided, the reason, and the player name if it is about one player; until the decision is carried out, a keyed hash of the network or mail domain whose votes are held':
    'Die E-Mail-Adresse des Betreibers, der entschieden hat, der Grund und der Spielername, wenn es um einen Spieler geht; bis die Entscheidung ausgeführt ist, ein Hash mit Schlüssel vom Netz oder von der Mail-Domain, deren Stimmen zurückgehalten werden',
  'To show who took votes out of the counts': 'Um zu zeigen, wer Stimmen aus den Zahlen genommen hat',
  'The decision without a limit': 'Die Entscheidung ohne Grenze',
  'Player name, rating, text, times, the account; the e-mail addresses of who approved or answered it, which are not public':
    'Spielername, Sterne, Text, Zeiten, das Konto; die E-Mail-Adressen derer, die sie freigaben oder beantworteten; sie sind nicht öffentlich',
  'To show them on the page of the server after a check':
    'Um sie nach einer Prüfung auf der Seite des Servers zu zeigen',
  'Until the author deletes the review or the account':
    'Bis der Verfasser die Bewertung oder das Konto löscht',
  'Your favourite servers, and the player name that you last voted with while signed in':
    'Deine Favoriten und der Spielername, mit dem du angemeldet zuletzt abgestimmt hast',
  'To show your favourites and to fill in the vote form':
    'Um deine Favoriten zu zeigen und das Abstimmformular auszufüllen',
  'Reports about servers': 'Meldungen über Server',
  'Reason and text; the account of a signed-in sender until it is deleted; the operator who closed the report':
    'Grund und Text; das Konto eines angemeldeten Absenders, bis es gelöscht ist; der Betreiber, der die Meldung schloss',
  'To check listed servers': 'Um gelistete Server zu prüfen',
  'until {time} after an operator closed the report': 'nach dem Schließen durch einen Betreiber noch {time}',
  'Name, host name or IP address, texts and pictures, owner, members, e-mail addresses of invited members':
    'Name, Hostname oder IP-Adresse, Texte und Bilder, Besitzer, Mitglieder, E-Mail-Adressen eingeladener Mitglieder',
  'To list the server and to let its owner and members manage it':
    'Um den Server zu listen und ihn Besitzer und Mitglieder verwalten zu lassen',
  'While the server is listed. A removed server is not shown, but its record stays, so that its address on this site is never given to another one':
    'Solange der Server gelistet ist. Ein entfernter Server wird nicht gezeigt, aber sein Datensatz bleibt, damit seine Adresse auf dieser Website nie ein anderer bekommt',
  'Servers without proof of ownership': 'Server ohne Nachweis des Besitzes',
  'Account, name, host name or IP address of the server, results of checks':
    'Konto, Name, Hostname oder IP-Adresse des Servers, Ergebnisse von Prüfungen',
  'To prove the ownership before the server is listed':
    'Um den Besitz nachzuweisen, bevor der Server gelistet wird',
  'Access keys of servers': 'Zugangsschlüssel von Servern',
  'Name, a hash of the key, time of the last use': 'Name, ein Hash des Schlüssels, Zeit der letzten Nutzung',
  'To let plugins and websites of the owner cast and read votes':
    'Um Plugins und Websites des Besitzers Stimmen abgeben und lesen zu lassen',
  'as long as the record of the server': 'solange wie der Datensatz des Servers',
  'Vote listeners': 'Vote-Listener',
  'Address and encrypted key of the owner’s vote listener, and its last errors':
    'Adresse und verschlüsselter Schlüssel des Vote-Listeners und seine letzten Fehler',
  'To deliver votes to the server': 'Um Stimmen an den Server zuzustellen',
  'until the owner removes it, else as long as the record of the server':
    'bis der Besitzer ihn entfernt, sonst solange wie der Datensatz des Servers',
  'Audit log': 'Protokoll',
  'E-mail addresses of who changed what and whom it concerned, the player whose waiting time was ended, and what changed':
    'E-Mail-Adressen derer, die etwas änderten und die es betraf, der Spieler, dessen Wartezeit beendet wurde, und was sich änderte',
  'To find out who changed something, and to investigate misuse':
    'Um herauszufinden, wer etwas geändert hat, und Missbrauch zu untersuchen',
  'The entry without a limit; the name of a player in it as long as in a vote':
    'Der Eintrag ohne Grenze; der Name eines Spielers darin so lange wie in einer Stimme',
  'Mails to users': 'Mails an Nutzer',
  'E-mail address, subject and, until it was sent, the encrypted text':
    'E-Mail-Adresse, Betreff und, bis sie gesendet ist, der verschlüsselte Text',
  'To send links, warnings and notifications': 'Um Links, Warnungen und Benachrichtigungen zu senden',
  'Messages to Discord': 'Nachrichten an Discord',
  'Subject and, until it was sent, the encrypted text, such as a review of the server':
    'Betreff und, bis sie gesendet ist, der verschlüsselte Text, etwa eine Bewertung des Servers',
  'To tell owners in their own Discord channel what happens to their server':
    'Um Besitzern in ihrem eigenen Discord-Kanal zu sagen, was mit ihrem Server geschieht',
  Limits: 'Begrenzungen',
  'IP addresses or networks, accounts, hashes of e-mail addresses, and how often each did something':
    'IP-Adressen oder Netze, Konten, Hashes von E-Mail-Adressen und wie oft von ihnen etwas kam',
  'To stop guessing of passwords, floods and misuse':
    'Um das Raten von Passwörtern, Fluten und Missbrauch zu stoppen',
  'at most {time}': 'höchstens {time}',
  'Limits of checks': 'Begrenzungen von Prüfungen',
  'Accounts that asked for a check of a server or a listener, and when':
    'Konten, die eine Prüfung eines Servers oder Listeners verlangten, und wann',
  'To limit the connections that one account causes':
    'Um die Verbindungen zu begrenzen, die ein Konto verursacht',
  'a minute': 'eine Minute',
  'E-mail addresses in it as long': 'E-Mail-Adressen darin ebenso',
  'E-mail addresses in it at most {time} after that time': 'E-Mail-Adressen darin danach höchstens {time}',
  '{count, plural, one {one day} other {# days}}': '{count, plural, one {1 Tag} other {# Tage}}',
  '{count, plural, one {one month} other {# months}}': '{count, plural, one {1 Monat} other {# Monate}}',
  'We do not check {game} servers: {reason}. The status comes from the server’s own reports.':
    'Server von {game} prüfen wir nicht: {reason}. Der Status kommt aus den eigenen Meldungen des Servers.',
  'their status comes from a service on the internet, not from the server itself':
    'ihr Status kommt von einem Dienst im Internet, nicht vom Server selbst',
  'they answer only to a password or key of their owner':
    'sie antworten nur auf ein Passwort oder einen Schlüssel des Besitzers',
  Announcement: 'Ankündigung',
  Warning: 'Warnung',
} as const satisfies Record<string, string>;
