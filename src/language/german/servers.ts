/** Texts of the owner's pages: the list of servers, adding one, profile, members, settings and statistics. */
export const SERVERS = {
  'Settings saved.': 'Einstellungen gespeichert.',
  'Text saved.': 'Text gespeichert.',
  'Move cancelled. The server keeps its address.': 'Umzug abgebrochen. Der Server behält seine Adresse.',
  'The form was incomplete. Reload the page.': 'Das Formular war unvollständig. Lade die Seite neu.',
  Details: 'Angaben',
  'The server’s id stays the same. A new name changes the page’s address; the old address redirects.':
    'Die Id des Servers bleibt gleich. Ein neuer Name ändert die Adresse der Seite; die alte leitet weiter.',
  'Vote form': 'Abstimmformular',
  'Players can vote on the page of your server. A vote needs no account; bulk voting is limited by network, and unusual votes wait for the operator of this listing.':
    'Spieler können auf der Seite deines Servers abstimmen. Eine Stimme braucht kein Konto; Massenstimmen sind je Netz begrenzt, und auffällige Stimmen warten auf den Betreiber dieses Verzeichnisses.',
  'The page of your server has no vote form. Players vote only with your plugin or website.':
    'Die Seite deines Servers hat kein Abstimmformular. Spieler stimmen nur mit deinem Plugin oder deiner Website ab.',
  'Switch the vote form off': 'Abstimmformular abschalten',
  'Switch the vote form on': 'Abstimmformular einschalten',
  'How to vote': 'So wird abgestimmt',
  'Rewards and how to vote': 'Belohnungen und wie man abstimmt',
  'Up to {characters} characters of plain text. URLs that begin with https:// become links.':
    'Bis zu {characters} Zeichen einfacher Text. Adressen, die mit https:// beginnen, werden Links.',
  Preview: 'Vorschau',
  'As players see it': 'Wie Spieler es sehen',
  'Preview (not saved)': 'Vorschau (nicht gespeichert)',
  'The server will move to {address} after you verify ownership. Until then it stays at {present}.':
    'Der Server zieht zu {address} um, sobald du den Besitz nachgewiesen hast. Bis dahin bleibt er bei {present}.',
  'Cancel move': 'Umzug abbrechen',
  Address: 'Adresse',
  'You need to verify ownership of the new address. Votes, tokens and the vote listener are kept.':
    'Du musst den Besitz der neuen Adresse nachweisen. Stimmen, Tokens und der Vote-Listener bleiben.',
  'Move to this address': 'Zu dieser Adresse umziehen',
  'Remove server': 'Server entfernen',
  '<bdi>{name}</bdi> is removed permanently: its tokens stop working, waiting votes are not delivered, and its page is deleted. Its id is never used again. If you add the server again, it starts from zero.':
    '<bdi>{name}</bdi> wird endgültig entfernt: Seine Tokens funktionieren nicht mehr, wartende Stimmen werden nicht zugestellt, und seine Seite wird gelöscht. Seine Id wird nie wieder vergeben. Fügst du den Server wieder hinzu, beginnt er bei null.',
  'Name of the server': 'Name des Servers',
  'Type the name of the server to remove it.': 'Gib den Namen des Servers ein, um ihn zu entfernen.',
  'Remove permanently': 'Endgültig entfernen',
  Name: 'Name',
  'Shown in the list of servers.': 'Steht in der Liste der Server.',
  'Host name or IP address': 'Hostname oder IP-Adresse',
  Port: 'Port',
  'The port for players': 'Der Port für Spieler',
  'Type to search. Leave empty if your game is not in the list; the status then comes from the server’s own reports.':
    'Tippe, um zu suchen. Lass es leer, wenn dein Spiel nicht in der Liste ist; der Status kommt dann aus den eigenen Meldungen des Servers.',
  'Query port (optional)': 'Query-Port (freiwillig)',
  'Only if it is not the default': 'Nur wenn er nicht der übliche ist',
  'Country (optional)': 'Land (freiwillig)',
  'Location of the server': 'Standort des Servers',
  'Not specified': 'Nicht angegeben',
  'Draft discarded.': 'Entwurf verworfen.',
  'Server removed.': 'Server entfernt.',
  'Invitation declined.': 'Einladung abgelehnt.',
  'You are no longer a member of this server.': 'Du bist kein Mitglied dieses Servers mehr.',
  'Your servers': 'Deine Server',
  'Add a server': 'Server hinzufügen',
  Leave: 'Verlassen',
  'member, {role}': 'Mitglied, {role}',
  'Leave…': 'Verlassen…',
  'You no longer see this server. Only its owner can invite you again. Tokens that you made for it are revoked, and its owner is told.':
    'Du siehst diesen Server dann nicht mehr. Nur der Besitzer kann dich wieder einladen. Tokens, die du für ihn angelegt hast, werden widerrufen, und der Besitzer erfährt es.',
  'You have no servers yet. Add your first one in two minutes.':
    'Du hast noch keine Server. Füge deinen ersten in zwei Minuten hinzu.',
  'Your e-mail address is not confirmed, so invitations to servers are not shown.':
    'Deine E-Mail-Adresse ist nicht bestätigt, daher werden Einladungen zu Servern nicht gezeigt.',
  'Not listed yet': 'Noch nicht gelistet',
  'Servers to verify': 'Server ohne Nachweis',
  State: 'Zustand',
  'reached, not verified': 'erreicht, nicht nachgewiesen',
  'not verified': 'nicht nachgewiesen',
  'Check result': 'Ergebnis der Prüfung',
  'Verify ownership': 'Besitz nachweisen',
  'Choose one of these ways, then check.': 'Wähle einen dieser Wege, dann prüfe.',
  'Do this, then check.': 'Tu dies, dann prüfe.',
  'You only need to do this once and can remove the code afterwards.':
    'Das ist nur einmal nötig; danach kannst du den Code entfernen.',
  'We cannot verify an IP address without a game that we can query. Enter a host name, choose a game, or contact the operator of this listing.':
    'Den Besitz einer IP-Adresse ohne ein Spiel, das wir abfragen können, können wir nicht prüfen. Gib einen Hostnamen ein, wähle ein Spiel, oder wende dich an den Betreiber dieses Verzeichnisses.',
  'Check now': 'Jetzt prüfen',
  'Your entries are kept until {day}.': 'Deine Eingaben bleiben bis {day} gespeichert.',
  'Message (MOTD) or name': 'Nachricht (MOTD) oder Name',
  'Server reached: {players}, {latencyMs} ms': 'Server erreicht: {players}, {latencyMs} ms',
  'Without a game, we cannot check this server. Its status will come from its own reports. Verify it with a DNS record.':
    'Ohne Spiel können wir diesen Server nicht prüfen. Sein Status kommt aus seinen eigenen Meldungen. Weise den Besitz mit einem DNS-Eintrag nach.',
  'We cannot query {game} servers, so we cannot check this server. Its status will come from its own reports. Verify it with a DNS record.':
    'Server von {game} können wir nicht abfragen und daher diesen Server nicht prüfen. Sein Status kommt aus seinen eigenen Meldungen. Weise den Besitz mit einem DNS-Eintrag nach.',
  'We could not reach {address}.': 'Wir konnten {address} nicht erreichen.',
  'The server must answer once before it is listed. <a>Edit your entries</a>, or start the server and check again. If the server does not answer queries by design, leave the game empty.':
    'Der Server muss einmal antworten, bevor er gelistet wird. <a>Ändere deine Eingaben</a>, oder starte den Server und prüfe noch einmal. Beantwortet der Server absichtlich keine Abfragen, lass das Spiel leer.',
  'We cannot accept its message: it comes from a query port that anyone on the same machine could have opened. Use the DNS record.':
    'Seine Nachricht können wir nicht annehmen: Sie kommt von einem Query-Port, den jeder auf derselben Maschine geöffnet haben könnte. Nutze den DNS-Eintrag.',
  'Code found in the message.': 'Code in der Nachricht gefunden.',
  'Code not found in the message yet.': 'Code noch nicht in der Nachricht gefunden.',
  'DNS record found.': 'DNS-Eintrag gefunden.',
  'The DNS record <code>{address}</code> has a different code.':
    'Der DNS-Eintrag <code>{address}</code> hat einen anderen Code.',
  'DNS record <code>{address}</code> not found yet. A new record may take some minutes to appear.':
    'DNS-Eintrag <code>{address}</code> noch nicht gefunden. Ein neuer Eintrag braucht manchmal einige Minuten.',
  'The name servers of <code>{address}</code> did not answer.':
    'Die Nameserver von <code>{address}</code> haben nicht geantwortet.',
  'An IP address has no DNS record. Use the message.':
    'Eine IP-Adresse hat keinen DNS-Eintrag. Nutze die Nachricht.',
  'Message (MOTD)': 'Nachricht (MOTD)',
  'Add this code anywhere in the server’s name or message (MOTD), and restart or reload the server.':
    'Füge diesen Code irgendwo in den Namen oder die Nachricht (MOTD) des Servers ein, und starte oder lade den Server neu.',
  'DNS record': 'DNS-Eintrag',
  'Create a TXT record with this name and value.': 'Lege einen TXT-Eintrag mit diesem Namen und Wert an.',
  'the record’s name': 'der Name des Eintrags',
  'the record’s value': 'der Wert des Eintrags',
  full: 'voll',
  owner: 'Besitzer',
  'the code': 'der Code',
  'read only': 'nur lesen',
  'Full: changes everything but members, owner and removal':
    'Voll: ändert alles außer Mitgliedern, Besitzer und Entfernen',
  'Read only: sees the dashboard and changes nothing': 'Nur lesen: sieht das Dashboard und ändert nichts',
  'Invitation saved.': 'Einladung gespeichert.',
  'Invitation withdrawn.': 'Einladung zurückgezogen.',
  'Role changed.': 'Rolle geändert.',
  'Member removed. Check whether they know other tokens under “API access”, and the Discord webhook under “Settings”.':
    'Mitglied entfernt. Prüfe unter „API-Zugang“, ob es andere Tokens kennt, und unter „Einstellungen“ den Discord-Webhook.',
  Members: 'Mitglieder',
  Invite: 'Einladen',
  'an operator': 'ein Betreiber',
  'somebody without access to this server': 'jemand ohne Zugang zu diesem Server',
  'a deleted account': 'ein gelöschtes Konto',
  User: 'Nutzer',
  Role: 'Rolle',
  Since: 'Seit',
  Actions: 'Aktionen',
  'This server has no owner and no members.': 'Dieser Server hat keinen Besitzer und keine Mitglieder.',
  'Give full access': 'Vollen Zugriff geben',
  'Make read only': 'Auf Lesen beschränken',
  'The member no longer sees this server.': 'Das Mitglied sieht diesen Server nicht mehr.',
  'Make read only…': 'Auf Lesen beschränken…',
  'The member has made no valid token.': 'Das Mitglied hat kein gültiges Token angelegt.',
  'These tokens, which the member made, stop working within 5 seconds:':
    'Diese Tokens, die das Mitglied angelegt hat, funktionieren in spätestens 5 Sekunden nicht mehr:',
  'Keep these tokens: they become yours': 'Diese Tokens behalten: Sie werden deine',
  'The member may still know them.': 'Das Mitglied kennt sie vielleicht noch.',
  'Remove member': 'Mitglied entfernen',
  'We mail the address. Whoever signs in with it, confirmed, finds the invitation under “Your servers”.':
    'Wir schreiben an die Adresse. Wer sich mit ihr anmeldet und sie bestätigt hat, findet die Einladung unter „Deine Server“.',
  'This listing sends no mail: tell the person to sign in. An operator must have confirmed the address.':
    'Dieses Verzeichnis sendet keine Mails: Bitte die Person, sich anzumelden. Ein Betreiber muss die Adresse bestätigt haben.',
  'Open invitations': 'Offene Einladungen',
  Invited: 'Eingeladen',
  Withdraw: 'Zurückziehen',
  'No open invitations.': 'Keine offenen Einladungen.',
  'Too many invitations by you, to this address or from your network.':
    'Zu viele Einladungen von dir, an diese Adresse oder aus deinem Netz.',
  'You have no open invitation to this server. It may be withdrawn or expired.':
    'Du hast keine offene Einladung zu diesem Server. Sie wurde vielleicht zurückgezogen oder ist abgelaufen.',
  'This server has no member with this id.': 'Dieser Server hat kein Mitglied mit dieser Id.',
  Invitation: 'Einladung',
  '{by} invites you to manage <bdi>{server}</bdi> ({role}).':
    '{by} lädt dich ein, <bdi>{server}</bdi> zu verwalten ({role}).',
  Accept: 'Annehmen',
  Decline: 'Ablehnen',
  Overview: 'Übersicht',
  'Vote listener': 'Vote-Listener',
  Connect: 'Verbinden',
  'API access': 'API-Zugang',
  Statistics: 'Statistik',
  Settings: 'Einstellungen',
  'Public page': 'Öffentliche Seite',
  'The operator has hidden this server from the ranking and public lists: “<bdi>{reason}</bdi>” Its API and votes keep working.':
    'Der Betreiber hat diesen Server aus der Rangliste und den öffentlichen Listen genommen: „<bdi>{reason}</bdi>“ Seine API und seine Stimmen funktionieren weiter.',
  'The operator removed a part of this server’s profile. <a>See the reason</a>.':
    'Der Betreiber hat einen Teil des Profils dieses Servers entfernt. <a>Zum Grund</a>.',
  'You can upload {times} pictures an hour.': 'Du kannst {times} Bilder in der Stunde hochladen.',
  'Choose a picture first.': 'Wähle zuerst ein Bild.',
  'The upload must state its length.': 'Das Hochladen muss seine Länge angeben.',
  'The upload is malformed. Reload the page and try again.':
    'Das Hochladen ist fehlerhaft. Lade die Seite neu und versuche es noch einmal.',
  'The file is larger than 1 MB. Save the picture smaller or as JPEG or WebP.':
    'Die Datei ist größer als 1 MB. Speichere das Bild kleiner oder als JPEG oder WebP.',
  'Banner and icon': 'Banner und Icon',
  'Another banner': 'Ein anderes Banner',
  Banner: 'Banner',
  'PNG, JPEG or WebP, at most 1 MB, best 1,200 × 300 pixels. It is stored without its metadata.':
    'PNG, JPEG oder WebP, höchstens 1 MB, am besten 1.200 × 300 Pixel. Es wird ohne seine Metadaten gespeichert.',
  Upload: 'Hochladen',
  'Remove banner': 'Banner entfernen',
  'The icon comes from your server (server-icon.png) and follows it by itself.':
    'Das Icon kommt von deinem Server (server-icon.png) und folgt ihm von selbst.',
  'A Minecraft Java server’s icon (server-icon.png, 64 × 64 pixels) appears by itself after the next check.':
    'Das Icon eines Minecraft-Java-Servers (server-icon.png, 64 × 64 Pixel) erscheint nach der nächsten Prüfung von selbst.',
  Reason: 'Grund',
  'Votes for the rank': 'Stimmen für den Rang',
  'Every accepted vote is delivered, can be claimed and is in all counts. Only for the rank some may weigh less (<link>the rules</link>).':
    'Jede angenommene Stimme wird zugestellt, kann abgeholt werden und ist in allen Zahlen enthalten. Nur für den Rang können manche weniger wiegen (<link>die Regeln</link>).',
  'All votes of the last {days} days count in full for the rank.':
    'Alle Stimmen der letzten {days} Tage zählen für den Rang ganz.',
  'The {votes} of the last {days} days count as <strong>{rankVotes}</strong> for the rank.':
    'Die {votes} der letzten {days} Tage zählen für den Rang als <strong>{rankVotes}</strong>.',
  'Votes that weigh less for the rank': 'Stimmen, die für den Rang weniger wiegen',
  'Days on which votes weigh less': 'Tage, an denen Stimmen weniger wiegen',
  'Players counted': 'Gezählte Spieler',
  '{players} of {seen}: unusually many': '{players} von {seen}: ungewöhnlich viele',
  'not seen: {players} assumed': 'nicht gesehen: {players} angenommen',
  'of one network': 'aus einem Netz',
  'of new names': 'von neuen Namen',
  'through the API': 'über die API',
  'through the API, of unknown names': 'über die API, von unbekannten Namen',
  'waiting for an operator': 'warten auf einen Betreiber',
  'since the last ranking': 'seit der letzten Berechnung',
  'More than {full} votes of a day came from one network: {tenths} further ones count a tenth each, the rest not.':
    'Mehr als {full} Stimmen eines Tages kamen aus einem Netz: {tenths} weitere zählen je ein Zehntel, die übrigen nicht.',
  'More new names voted on a day than {each} for each player, and more than {fewest}: further ones count a tenth.':
    'An einem Tag stimmten mehr neue Namen ab als {each} je Spieler, und mehr als {fewest}: Weitere zählen ein Zehntel.',
  'More votes of a day came through the API than {each} for each player, and more than {fewest}: further ones count a tenth.':
    'An einem Tag kamen mehr Stimmen über die API als {each} je Spieler, und mehr als {fewest}: Weitere zählen ein Zehntel.',
  'More than {fewest} votes of a day came through the API with names that voted on this server’s page less than {known} times: those above do not count for the rank until an operator allows them.':
    'An einem Tag kamen mehr als {fewest} Stimmen über die API von Namen, die weniger als {known}-mal auf der Seite dieses Servers abgestimmt haben: Was darüber liegt, zählt für den Rang erst, wenn ein Betreiber es erlaubt.',
  'A day had more votes than {each} for each player, and more than {fewest}: those above do not count for the rank until an operator allows them.':
    'Ein Tag hatte mehr Stimmen als {each} je Spieler, und mehr als {fewest}: Was darüber liegt, zählt für den Rang erst, wenn ein Betreiber es erlaubt.',
  'They were cast since the last ranking. The next one counts them.':
    'Sie wurden seit der letzten Berechnung abgegeben. Die nächste zählt sie.',
  'All days are UTC.': 'Alle Tage sind UTC.',
  'Players in {days} days': 'Spieler in {days} Tagen',
  'Latency in {days} days': 'Latenz in {days} Tagen',
  'Uptime in the last 30 days': 'Verfügbarkeit in den letzten 30 Tagen',
  'Top voters this month': 'Fleißigste Wähler diesen Monat',
  'This file does not exist.': 'Diese Datei gibt es nicht.',
  '{span} days': '{span} Tage',
  'Download CSV<span>: {title}</span>': 'CSV herunterladen<span>: {title}</span>',
  'Reported by the server': 'Vom Server gemeldet',
  'The server reported these values through the API. The charts above, averages and uptime come from our own checks.':
    'Der Server hat diese Werte über die API gemeldet. Die Diagramme oben, Mittelwerte und Verfügbarkeit kommen aus unseren eigenen Prüfungen.',
  'Players in {days} days, as reported': 'Spieler in {days} Tagen, wie gemeldet',
  'Latency in {days} days, as reported': 'Latenz in {days} Tagen, wie gemeldet',
  'Players with the most votes this month': 'Spieler mit den meisten Stimmen diesen Monat',
  'Last vote': 'Letzte Stimme',
  'No votes this month.': 'Keine Stimmen diesen Monat.',
  'Server listed. It has the last rank until its first votes.':
    'Server gelistet. Bis zu seinen ersten Stimmen hat er den letzten Rang.',
  'The server has its new address.': 'Der Server hat seine neue Adresse.',
  Open: 'Öffnen',
  'The server': 'Der Server',
  'Describe the server': 'Den Server beschreiben',
  'Texts, tags and a banner make players choose it.':
    'Texte, Schlagwörter und ein Banner bringen Spieler dazu, ihn zu wählen.',
  'Create an API token': 'Einen API-Token anlegen',
  'Your website or plugin uses it to cast votes.': 'Deine Website oder dein Plugin gibt damit Stimmen ab.',
  'We forward votes to it, so that players get their rewards.':
    'Wir leiten Stimmen dorthin weiter, damit Spieler ihre Belohnungen bekommen.',
  'Send a test vote': 'Eine Teststimme senden',
  'Shows step by step whether votes arrive. Done when the first vote is delivered.':
    'Zeigt Schritt für Schritt, ob Stimmen ankommen. Erledigt, sobald die erste Stimme zugestellt ist.',
  'Next steps': 'Nächste Schritte',
  '– done': '– erledigt',
  '{votes} waiting.': '{votes} in Wartestellung.',
  'No public reviews yet.': 'Noch keine öffentlichen Bewertungen.',
  '{reviews}, {averageRating} of 5 stars on average.': '{reviews}, im Mittel {averageRating} von 5 Sternen.',
  'by its message': 'durch seine Nachricht',
  'by its DNS record': 'durch seinen DNS-Eintrag',
  'by an operator of this listing': 'durch einen Betreiber dieses Verzeichnisses',
  '{game} (not probed: status from reports only)': '{game} (nicht geprüft: Status nur aus Meldungen)',
  'Last checked': 'Zuletzt geprüft',
  'not yet': 'noch nicht',
  'Ownership verified': 'Besitz nachgewiesen',
  'Server id for plugins and the API': 'Server-Id für Plugins und die API',
  'the server id': 'die Server-Id',
  'Profile saved. The public page shows it within seconds.':
    'Profil gespeichert. Die öffentliche Seite zeigt es in wenigen Sekunden.',
  'Banner uploaded. The public page shows it once it is prepared.':
    'Banner hochgeladen. Die öffentliche Seite zeigt es, sobald es aufbereitet ist.',
  'The new banner is being prepared. It appears here within seconds; without JavaScript, reload the page.':
    'Das neue Banner wird aufbereitet. Es erscheint hier in wenigen Sekunden; lade ohne JavaScript die Seite neu.',
  'The new banner is being prepared.': 'Das neue Banner wird aufbereitet.',
  'The new banner was refused: {reason}': 'Das neue Banner wurde abgelehnt: {reason}',
  'Banner removed.': 'Banner entfernt.',
  'See the public page': 'Zur öffentlichen Seite',
  'The operator removed the {part} on {day}: “<bdi>{reason}</bdi>”':
    'Der Betreiber hat am {day} entfernt: {part}. Grund: „<bdi>{reason}</bdi>“',
  'Tell players what your server is. Every field is optional.':
    'Sag Spielern, was dein Server ist. Jedes Feld ist freiwillig.',
  'Short text': 'Kurztext',
  'One sentence, up to {characters} characters. The list of servers shows it.':
    'Ein Satz mit bis zu {characters} Zeichen. Er steht in der Liste der Server.',
  Description: 'Beschreibung',
  'Up to {most}, separated by commas: English, Deutsch, fr':
    'Bis zu {most}, mit Kommas getrennt: English, Deutsch, fr',
  'Where players buy ranks': 'Wo Spieler Ränge kaufen',
  'The rules of your server': 'Die Regeln deines Servers',
  'A trailer; shown as a link': 'Ein Trailer; er erscheint als Link',
  'Up to {characters} characters of Markdown: <code># Heading</code>, <code>**bold**</code>, <code>*italic*</code>, <code>- list</code>, <code>> quote</code>, <code>[link](https://example.org)</code>. No images and no HTML.':
    'Bis zu {characters} Zeichen Markdown: <code># Überschrift</code>, <code>**fett**</code>, <code>*kursiv*</code>, <code>- Liste</code>, <code>> Zitat</code>, <code>[Link](https://example.org)</code>. Keine Bilder und kein HTML.',
  Tags: 'Schlagwörter',
  'Up to {most}. Players filter the list by them.': 'Bis zu {most}. Spieler filtern die Liste damit.',
  'Answer published.': 'Antwort veröffentlicht.',
  'Answer removed.': 'Antwort entfernt.',
  'No public reviews yet. New reviews appear here after an operator approves them.':
    'Noch keine öffentlichen Bewertungen. Neue erscheinen hier, sobald ein Betreiber sie freigibt.',
  'This server has no public review with this id.':
    'Dieser Server hat keine öffentliche Bewertung mit dieser Id.',
  'Your answer': 'Deine Antwort',
  'Published at once. Up to {characters} characters.': 'Erscheint sofort. Bis zu {characters} Zeichen.',
  'Edit your answer': 'Deine Antwort ändern',
  Answer: 'Antwort',
  'to {username}': 'an {username}',
  'Save answer': 'Antwort speichern',
  'Publish answer': 'Antwort veröffentlichen',
  'Remove your answer': 'Deine Antwort entfernen',
  'Your answer is deleted and no longer public.':
    'Deine Antwort wird gelöscht und ist nicht mehr öffentlich.',
  'Remove answer': 'Antwort entfernen',
  Edit: 'Ändern',
  Discard: 'Verwerfen',
  'Your entries are deleted, and the verification code becomes invalid.':
    'Deine Eingaben werden gelöscht, und der Code für den Nachweis wird ungültig.',
  'Discard draft': 'Entwurf verwerfen',
  'You have no draft with this id.': 'Du hast keinen Entwurf mit dieser Id.',
  'Another server is being listed right now. Check again.':
    'Gerade wird ein anderer Server gelistet. Prüfe noch einmal.',
  'This address and port are already listed for another owner. If the server is yours, contact the operator of this listing.':
    'Diese Adresse mit diesem Port ist schon für einen anderen Besitzer gelistet. Gehört der Server dir, wende dich an den Betreiber dieses Verzeichnisses.',
  'Your account has reached its maximum number of servers. Remove one, or ask the operator of this listing for more.':
    'Dein Konto hat die höchste Zahl an Servern erreicht. Entferne einen, oder bitte den Betreiber dieses Verzeichnisses um mehr.',
  'You can check a server six times a minute, including test votes and changes to settings.':
    'Du kannst einen Server sechsmal in der Minute prüfen, Teststimmen und geänderte Einstellungen eingerechnet.',
  'You have {most} unverified servers. Verify or discard one of them first.':
    'Du hast {most} Server ohne Nachweis. Weise zuerst den Besitz eines davon nach, oder verwirf ihn.',
  'Edit the server': 'Server ändern',
  'We check the server right away and show you its answer. It is listed after you verify ownership with a code in its message (MOTD) or a DNS record.':
    'Wir prüfen den Server sofort und zeigen dir seine Antwort. Gelistet wird er, nachdem du den Besitz mit einem Code in seiner Nachricht (MOTD) oder einem DNS-Eintrag nachgewiesen hast.',
  'Save and check': 'Speichern und prüfen',
  'Check the server': 'Server prüfen',
  'Nothing was saved: you can change settings, resume, test and check {times} times a minute in total.':
    'Es wurde nichts gespeichert: Du kannst insgesamt {times}-mal in der Minute Einstellungen ändern, fortsetzen, testen und prüfen.',
} as const satisfies Record<string, string>;
