/** Notifications of owners: the kinds, the mails of an account, the Discord messages of a server. */
export const NOTIFICATIONS = {
  'It is paused because of an error, or unreachable for an hour; and when it works again.':
    'Er ist wegen eines Fehlers pausiert oder eine Stunde lang nicht erreichbar; und wenn er wieder funktioniert.',
  'Votes about to be given up': 'Stimmen kurz vor dem Verfallen',
  'A day before waiting votes expire.': 'Einen Tag, bevor wartende Stimmen verfallen.',
  'Server offline': 'Server ist offline',
  'It is offline for 10 minutes; and when it is back.':
    'Er ist seit 10 Minuten offline; und wenn er zurück ist.',
  'New reviews': 'Neue Bewertungen',
  'After an operator approved them.': 'Nachdem ein Betreiber sie freigegeben hat.',
  'An operator takes votes out of the counts, or returns them.':
    'Ein Betreiber nimmt Stimmen aus der Zählung oder zählt sie wieder.',
  'E-mail notifications saved.': 'Benachrichtigungen per Mail gespeichert.',
  'E-mail notifications are off.': 'Benachrichtigungen per Mail sind aus.',
  'Mails about the security of your account, such as a new password, are always sent. Messages to Discord are in the settings of each server.':
    'Mails zur Sicherheit deines Kontos, etwa über ein neues Passwort, werden immer gesendet. Nachrichten an Discord stehen in den Einstellungen jedes Servers.',
  'Webhook saved. Send a test message to check that messages arrive.':
    'Webhook gespeichert. Sende eine Testnachricht, um zu prüfen, ob Nachrichten ankommen.',
  'Choice of messages saved.': 'Auswahl der Nachrichten gespeichert.',
  'Webhook removed. No more messages go to Discord.':
    'Webhook entfernt. Es gehen keine Nachrichten mehr an Discord.',
  'This server has no Discord webhook.': 'Dieser Server hat keinen Discord-Webhook.',
  'Discord messages': 'Nachrichten an Discord',
  'We write to a channel of your Discord server about your vote listener, the server’s status, reviews and votes.':
    'Wir schreiben in einen Kanal deines Discord-Servers: über deinen Vote-Listener, den Status des Servers, Bewertungen und Stimmen.',
  'Discord says that the webhook does not exist any more.':
    'Discord sagt, dass es den Webhook nicht mehr gibt.',
  'Discord refuses the token of the webhook.': 'Discord lehnt das Token des Webhooks ab.',
  'Messages are off since {time}: {reason} Create a webhook in Discord and enter its address below.':
    'Nachrichten sind aus seit {time}: {reason} Erstelle in Discord einen Webhook und gib unten seine Adresse ein.',
  'A webhook is set, {time}. Its id ends with <b>{ending}</b>; its address is secret and not shown.':
    'Ein Webhook ist eingetragen, {time}. Seine Id endet mit <b>{ending}</b>; seine Adresse ist geheim und wird nicht gezeigt.',
  'Send test message': 'Testnachricht senden',
  'the webhook': 'den Webhook',
  'No more messages go to Discord. The webhook itself stays in Discord until you delete it there.':
    'Es gehen keine Nachrichten mehr an Discord. Der Webhook selbst bleibt in Discord, bis du ihn dort löschst.',
  'Remove webhook': 'Webhook entfernen',
  'Write about': 'Schreiben über',
  'Save choice': 'Auswahl speichern',
  'Address of another webhook': 'Adresse eines anderen Webhooks',
  'Address of the webhook': 'Adresse des Webhooks',
  'In Discord: Edit channel, Integrations, Webhooks, New webhook, Copy webhook URL. It is stored encrypted and not shown again.':
    'In Discord: Kanal bearbeiten, Integrationen, Webhooks, Neuer Webhook, Webhook-URL kopieren. Sie wird verschlüsselt gespeichert und nicht wieder gezeigt.',
  'Replace webhook': 'Webhook ersetzen',
  'Save webhook': 'Webhook speichern',
  'must begin with https://discord.com/api/webhooks/': 'muss mit https://discord.com/api/webhooks/ beginnen',
  'must be the address itself, without /slack or /github':
    'muss die Adresse selbst sein, ohne /slack oder /github',
  'must be a whole address, as «Copy Webhook URL» in Discord gives it':
    'muss eine ganze Adresse sein, wie „Webhook-URL kopieren“ in Discord sie gibt',
  'Discord accepted the test message. It is in your channel now.':
    'Discord hat die Testnachricht angenommen. Sie steht jetzt in deinem Kanal.',
  'Discord does not know this webhook (404): it was deleted. Create a new one and enter its address.':
    'Discord kennt diesen Webhook nicht (404): Er wurde gelöscht. Erstelle einen neuen und gib seine Adresse ein.',
  'Discord refuses the token of this webhook (401). Copy its address in Discord again.':
    'Discord lehnt das Token dieses Webhooks ab (401). Kopiere seine Adresse in Discord noch einmal.',
  'Discord accepts no more messages for this webhook at the moment (429). Try again in {seconds} seconds.':
    'Discord nimmt für diesen Webhook gerade keine Nachrichten mehr an (429). Versuche es in {seconds} Sekunden noch einmal.',
  'This listing may not connect to the address of Discord: its operator blocks it. Nothing was sent.':
    'Dieses Verzeichnis darf sich nicht mit der Adresse von Discord verbinden: Der Betreiber sperrt sie. Nichts wurde gesendet.',
  'Discord refused the message ({status}).': 'Discord hat die Nachricht abgelehnt ({status}).',
  'The stored address cannot be read. Enter it again.':
    'Die gespeicherte Adresse ist nicht lesbar. Gib sie noch einmal ein.',
  'This server has no webhook. Enter its address first.':
    'Dieser Server hat keinen Webhook. Gib zuerst seine Adresse ein.',
  'Discord answered with an error ({status}). Try again in some minutes.':
    'Discord hat mit einem Fehler geantwortet ({status}). Versuche es in einigen Minuten noch einmal.',
  'The name of Discord could not be resolved. Try again in some minutes.':
    'Der Name von Discord ließ sich nicht auflösen. Versuche es in einigen Minuten noch einmal.',
  'Discord did not answer in time. Try again in some minutes; look in your channel first, the message may have arrived.':
    'Discord hat nicht rechtzeitig geantwortet. Versuche es in einigen Minuten noch einmal; sieh zuerst in deinen Kanal, die Nachricht ist vielleicht angekommen.',
  'The connection to Discord failed ({reason}). Try again in some minutes.':
    'Die Verbindung zu Discord scheiterte ({reason}). Versuche es in einigen Minuten noch einmal.',
  'test failed': 'Test gescheitert',
  'not tested': 'nicht getestet',
  'No vote has arrived with these settings yet. Send a test vote to check them.':
    'Mit diesen Einstellungen ist noch keine Stimme angekommen. Sende eine Teststimme, um sie zu prüfen.',
  'The last test vote did not arrive: {cause} Votes are sent anyway. Send another test vote to see each step.':
    'Die letzte Teststimme ist nicht angekommen: {cause} Stimmen werden trotzdem gesendet. Sende noch eine Teststimme, um jeden Schritt zu sehen.',
  'Messages to Discord': 'Nachrichten an Discord',
  'The server, a short subject and, until it was sent, the encrypted text, which may have the player name and text of a review':
    'Der Server, ein kurzer Betreff und, bis sie gesendet ist, der verschlüsselte Text; er kann Spielernamen und Text einer Bewertung enthalten',
  'To notify owners in their own Discord channel, if they set one up':
    'Um Besitzer in ihrem eigenen Discord-Kanal zu benachrichtigen, wenn sie einen eingerichtet haben',
  'Discord webhooks of servers': 'Discord-Webhooks von Servern',
  'The encrypted address of a webhook and the kinds of messages for it':
    'Die verschlüsselte Adresse eines Webhooks und die Arten von Nachrichten für ihn',
  'until the owner removes it, or the server is removed':
    'bis der Besitzer ihn entfernt oder der Server entfernt wird',
  'If an owner enters the address of a Discord webhook, Discord gets the notifications about the server, with the player name and the beginning of a new review.':
    'Gibt ein Besitzer die Adresse eines Discord-Webhooks ein, bekommt Discord die Benachrichtigungen über den Server, mit dem Spielernamen und dem Anfang einer neuen Bewertung.',
} as const;
