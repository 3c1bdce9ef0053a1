/** Texts of notifications by mail and to Discord. */
export const NOTIFICATIONS = {
  'Mails about the security of your account, such as a new password, are always sent. Messages to Discord are in the settings of each server.':
    'Mails zur Sicherheit deines Kontos, etwa zu einem neuen Passwort, werden immer gesendet. Nachrichten an Discord stehen in den Einstellungen jedes Servers.',
  'This listing sends no mail. A server’s settings can send messages to Discord.':
    'Dieses Verzeichnis sendet keine Mails. In den Einstellungen eines Servers lassen sich Nachrichten an Discord einrichten.',
  'E-mail notifications saved.': 'Benachrichtigungen per E-Mail gespeichert.',
  'E-mail notifications are off.': 'Benachrichtigungen per E-Mail sind aus.',
  'It is paused because of an error, unreachable for an hour, or votes wait and nobody fetches them for 10 minutes; and when it works again.':
    'Er ist wegen eines Fehlers pausiert oder eine Stunde lang nicht erreichbar, oder Stimmen warten und niemand ruft sie 10 Minuten lang ab; und wenn er wieder funktioniert.',
  'Votes about to be given up': 'Stimmen, die bald verfallen',
  'A day before waiting votes expire.': 'Einen Tag, bevor wartende Stimmen verfallen.',
  'Server offline': 'Server ist offline',
  'It is offline for 10 minutes; and when it is back.':
    'Er ist 10 Minuten lang offline; und wenn er zurück ist.',
  'New reviews': 'Neue Bewertungen',
  'After an operator approved them.': 'Nachdem ein Betreiber sie freigegeben hat.',
  'An operator takes votes out of the counts, or returns them.':
    'Ein Betreiber nimmt Stimmen aus den Zahlen oder gibt sie zurück.',
  'Webhook saved. Send a test message to check that messages arrive.':
    'Webhook gespeichert. Sende eine Testnachricht, um zu prüfen, ob Nachrichten ankommen.',
  'Choice of messages saved.': 'Auswahl der Nachrichten gespeichert.',
  'Webhook removed. No more messages go to Discord.':
    'Webhook entfernt. Es gehen keine Nachrichten mehr an Discord.',
  'This server has no Discord webhook.': 'Dieser Server hat keinen Discord-Webhook.',
  'Discord messages': 'Nachrichten an Discord',
  'We write to a channel of your Discord server about your vote listener, the server’s status, reviews and votes.':
    'Wir schreiben in einen Kanal deines Discord-Servers über deinen Vote-Listener, den Status des Servers, Bewertungen und Stimmen.',
  'Messages are off since {time}: {why}': 'Nachrichten sind aus seit {time}: {why}',
  'Create a webhook in Discord and enter its address.':
    'Lege in Discord einen Webhook an und gib seine Adresse ein.',
  'Copy the address of the webhook in Discord again and enter it.':
    'Kopiere die Adresse des Webhooks in Discord noch einmal und gib sie ein.',
  'The webhook belongs to a forum channel, and its address names no post of it (Discord: 220001).':
    'Der Webhook gehört zu einem Forumkanal, und seine Adresse nennt keinen Beitrag darin (Discord: 220001).',
  'Create a post for the messages. In Discord switch on the developer mode (“Advanced”), choose “Copy Thread ID” in the menu of the post, and enter the address with ?thread_id= and this number at its end.':
    'Lege einen Beitrag für die Nachrichten an. Schalte in Discord den Entwicklermodus ein („Erweitert“), wähle im Menü des Beitrags „Thread-ID kopieren“ und gib die Adresse mit ?thread_id= und dieser Zahl am Ende ein.',
  'Discord takes new posts in forum channels only, and the channel of the webhook is none (220003).':
    'Discord nimmt neue Beiträge nur in Forumkanälen an, und der Kanal des Webhooks ist keiner (220003).',
  'Create a webhook in a text channel, or enter the address with ?thread_id= and the id of a thread of its channel.':
    'Lege einen Webhook in einem Textkanal an, oder gib die Adresse mit ?thread_id= und der Id eines Threads seines Kanals ein.',
  'Discord does not accept messages for the thread that the address names.':
    'Discord nimmt für den Thread, den die Adresse nennt, keine Nachrichten an.',
  'Enter the address with ?thread_id= and the id of another thread, or without it for the channel itself.':
    'Gib die Adresse mit ?thread_id= und der Id eines anderen Threads ein, oder ohne sie für den Kanal selbst.',
  'Failing: Discord refused the last message, {time} ({reason}). Send a test message. If it is refused too, enter the address of another webhook.':
    'Gestört: Discord hat die letzte Nachricht abgelehnt, {time} ({reason}). Sende eine Testnachricht. Wird auch sie abgelehnt, gib die Adresse eines anderen Webhooks ein.',
  'must have a number of 15 to 21 digits after ?thread_id=, as “Copy Thread ID” in Discord gives it':
    'muss nach ?thread_id= eine Zahl mit 15 bis 21 Ziffern haben, wie „Thread-ID kopieren“ in Discord sie gibt',
  'A webhook is set, {time}. Its id ends with {ending}; its address is secret and not shown.':
    'Ein Webhook ist gesetzt, {time}. Seine Id endet auf {ending}; seine Adresse ist geheim und wird nicht gezeigt.',
  'Discord says that the webhook does not exist any more.':
    'Discord sagt, dass es den Webhook nicht mehr gibt.',
  'Discord refuses the token of the webhook.': 'Discord lehnt das Token des Webhooks ab.',
  'Send test message': 'Testnachricht senden',
  'the webhook': 'den Webhook',
  'No more messages go to Discord. The webhook itself stays in Discord until you delete it there.':
    'Es gehen keine Nachrichten mehr an Discord. Der Webhook selbst bleibt in Discord, bis du ihn dort löschst.',
  'Remove webhook': 'Webhook entfernen',
  'Write about': 'Schreiben über',
  'Save choice': 'Auswahl speichern',
  'Address of another webhook': 'Adresse eines anderen Webhooks',
  'Address of the webhook': 'Adresse des Webhooks',
  'In Discord: Edit channel, Integrations, Webhooks, New webhook, Copy webhook URL. For a post of a forum channel, or a thread, add ?thread_id= and its id. It is stored encrypted and not shown again.':
    'In Discord: Kanal bearbeiten, Integrationen, Webhooks, Neuer Webhook, Webhook-URL kopieren. Für einen Beitrag eines Forumkanals oder einen Thread hänge ?thread_id= und seine Id an. Sie wird verschlüsselt gespeichert und nicht wieder gezeigt.',
  'Replace webhook': 'Webhook ersetzen',
  'Save webhook': 'Webhook speichern',
  'Discord accepted the test message. It is in your channel now.':
    'Discord hat die Testnachricht angenommen. Sie steht jetzt in deinem Kanal.',
  'Discord does not know this webhook (404): it was deleted. Create a new one and enter its address.':
    'Discord kennt diesen Webhook nicht (404): Er wurde gelöscht. Lege einen neuen an und gib seine Adresse ein.',
  'Discord refuses the token of this webhook (401). Copy its address in Discord again.':
    'Discord lehnt das Token dieses Webhooks ab (401). Kopiere seine Adresse in Discord noch einmal.',
  'Discord accepts no more messages for this webhook at the moment (429). Try again in {seconds} seconds.':
    'Discord nimmt für diesen Webhook im Moment keine Nachrichten mehr an (429). Versuche es in {seconds} Sekunden noch einmal.',
  'This listing may not connect to the address of Discord: its operator blocks it. Nothing was sent.':
    'Dieses Verzeichnis darf sich nicht mit der Adresse von Discord verbinden: Sein Betreiber sperrt sie. Es wurde nichts gesendet.',
  'Discord refused the message ({reason}).': 'Discord hat die Nachricht abgelehnt ({reason}).',
  'The stored address cannot be read. Enter it again.':
    'Die gespeicherte Adresse ist nicht lesbar. Gib sie noch einmal ein.',
  'This server has no webhook. Enter its address first.':
    'Dieser Server hat keinen Webhook. Gib zuerst seine Adresse ein.',
  'no status': 'kein Status',
  'Discord answered with an error ({reason}). Try again in some minutes.':
    'Discord hat mit einem Fehler geantwortet ({reason}). Versuche es in einigen Minuten noch einmal.',
  'The name of Discord could not be resolved. Try again in some minutes.':
    'Der Name von Discord ließ sich nicht auflösen. Versuche es in einigen Minuten noch einmal.',
  'Discord did not answer in time. Try again in some minutes; look in your channel first, the message may have arrived.':
    'Discord hat nicht rechtzeitig geantwortet. Sieh zuerst in deinem Kanal nach, die Nachricht ist vielleicht angekommen; versuche es sonst in einigen Minuten noch einmal.',
  'The connection to Discord failed ({reason}). Try again in some minutes.':
    'Die Verbindung zu Discord ist fehlgeschlagen ({reason}). Versuche es in einigen Minuten noch einmal.',
  'must begin with https://discord.com/api/webhooks/': 'muss mit https://discord.com/api/webhooks/ beginnen',
  'must be the address itself, without /slack or /github':
    'muss die Adresse selbst sein, ohne /slack oder /github',
  'must be a whole address, as “Copy Webhook URL” in Discord gives it':
    'muss eine ganze Adresse sein, wie „Webhook-URL kopieren“ in Discord sie gibt',
} as const satisfies Record<string, string>;
