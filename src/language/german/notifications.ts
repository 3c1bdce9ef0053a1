/** Notifications by mail and to Discord. */
export const NOTIFICATIONS = {
  'Mails about the security of your account, such as a new password, are always sent. Messages to Discord are in the settings of each server.':
    'Mails zur Sicherheit deines Kontos, etwa zu einem neuen Passwort, werden immer gesendet. Nachrichten an Discord stehen in den Einstellungen jedes Servers.',
  'This listing sends no mail. A server’s settings can send messages to Discord.':
    'Dieses Verzeichnis sendet keine Mails. In den Einstellungen eines Servers lassen sich Nachrichten an Discord einrichten.',
  'E-mail notifications saved.': 'Benachrichtigungen per E-Mail gespeichert.',
  'E-mail notifications are off.': 'Benachrichtigungen per E-Mail sind aus.',
  'It is paused because of an error, or unreachable for an hour; and when it works again.':
    'Er ist wegen eines Fehlers pausiert oder eine Stunde lang nicht erreichbar; und wenn er wieder funktioniert.',
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
  'Messages are off since {time}: {why} Create a webhook in Discord and enter its address below.':
    'Nachrichten sind aus seit {time}: {why} Lege in Discord einen Webhook an und gib seine Adresse unten ein.',
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
  'In Discord: Edit channel, Integrations, Webhooks, New webhook, Copy webhook URL. It is stored encrypted and not shown again.':
    'In Discord: Kanal bearbeiten, Integrationen, Webhooks, Neuer Webhook, Webhook-URL kopieren. Sie wird verschlüsselt gespeichert und nicht wieder gezeigt.',
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
  'must be a whole address, as «Copy Webhook URL» in Discord gives it':
    'muss eine ganze Adresse sein, wie „Webhook-URL kopieren“ in Discord sie gibt',
} as const satisfies Record<string, string>;
