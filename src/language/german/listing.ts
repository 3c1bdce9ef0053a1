/** Texts of the ranking, a server's page, the vote form, favourites and complaints. */
export const LISTING = {
  Rank: 'Rang',
  Server: 'Server',
  Status: 'Status',
  Players: 'Spieler',
  Listed: 'Gelistet',
  Rating: 'Bewertung',
  'Uptime in 30 days': 'Verfügbarkeit in 30 Tagen',
  'Votes in {days} days': 'Stimmen in {days} Tagen',
  'no reviews': 'keine Bewertungen',
  'of 5': 'von 5',
  'not known': 'nicht bekannt',
  online: 'online',
  'A label by the operator. It does not change the rank.':
    'Eine Kennzeichnung des Betreibers. Sie ändert den Rang nicht.',
  Premium: 'Premium',
  'of {maxPlayers}': 'von {maxPlayers}',
  'players hidden': 'Spielerzahl verborgen',
  'online, players hidden': 'online, Spielerzahl verborgen',
  'How the ranking works': 'So funktioniert die Rangliste',
  'How {name} ranks game servers: votes of {days} days, then uptime, then age. Check any server’s rank yourself.':
    'So ordnet {name} Spielserver: nach Stimmen aus {days} Tagen, dann nach Verfügbarkeit, dann nach Alter. Prüfe den Rang jedes Servers selbst.',
  'Check a server’s rank': 'Rang eines Servers prüfen',
  'The formula': 'Die Regeln',
  'Servers are ranked every ten minutes by these rules. Each rule decides only between servers that are equal by the rules before it.':
    'Alle zehn Minuten werden die Server nach diesen Regeln geordnet. Jede Regel entscheidet nur zwischen Servern, die nach den Regeln davor gleich sind.',
  Votes: 'Stimmen',
  'More votes rank higher. Votes of today and the {days} days before count (UTC). <link>What a vote weighs</link> is nearly always one.':
    'Mehr Stimmen bringen einen höheren Rang. Es zählen die Stimmen von heute und der {days} Tage davor (UTC). <link>Was eine Stimme wiegt</link>, ist fast immer eins.',
  'What a vote weighs': 'Was eine Stimme wiegt',
  'Every accepted vote reaches the server, can be rewarded and is in all counts. Nearly all of them also count in full for the rank. Only votes that little speaks for weigh less there, so that a rank cannot be bought cheaply. For each server and day (UTC):':
    'Jede angenommene Stimme wird zugestellt, kann belohnt werden und ist in allen Zahlen enthalten. Fast alle zählen auch für den Rang ganz. Nur Stimmen, für die wenig spricht, wiegen dort weniger, damit sich ein Rang nicht billig kaufen lässt. Für jeden Server und Tag (UTC):',
  'Votes from one network': 'Stimmen aus einem Netz',
  '{full} count in full, as at home; up to {more} of regulars, or with confirmed accounts that are older than 7 days. {tenths} further ones count a tenth each, the rest not. A network is one internet connection and its neighbours (IPv4 /24, IPv6 /64); an IPv6 /48 has four times as much.':
    '{full} zählen ganz, wie in einem Haushalt; bis zu {more} von Stammwählern oder mit bestätigten Konten, die älter als 7 Tage sind. {tenths} weitere zählen je ein Zehntel, die übrigen nicht. Ein Netz ist ein Internetanschluss mit seinen Nachbarn (IPv4 /24, IPv6 /64); ein IPv6 /48 hat viermal so viel.',
  Regulars: 'Stammwähler',
  'A name that voted for the server at least {votes} times before is a regular. Its votes on the page count in full.':
    'Ein Name, der schon mindestens {votes}-mal für den Server gestimmt hat, gehört einem Stammwähler. Seine Stimmen auf der Seite zählen ganz.',
  'New names': 'Neue Namen',
  '{each} for each player of the server count in full, and at least {fewest}. Further ones count a tenth.':
    'Je Spieler des Servers zählen {each} ganz, mindestens aber {fewest}. Weitere zählen ein Zehntel.',
  'Votes through the API': 'Stimmen über die API',
  'The server’s own website or plugin casts them, so we see no network, and names could be invented. Votes of names that have voted on the server’s page at least {known} times count in full up to {each} for each player, and at least {fewest}; further ones count a tenth. Of other names, {fewest} votes count in full; further ones do not count until an operator allows them.':
    'Die Website oder das Plugin des Servers gibt sie ab, daher sehen wir kein Netz, und Namen könnten erfunden sein. Stimmen von Namen, die mindestens {known}-mal auf der Seite des Servers abgestimmt haben, zählen bis zu {each} je Spieler ganz, mindestens aber {fewest}; weitere zählen ein Zehntel. Von anderen Namen zählen {fewest} Stimmen ganz; weitere zählen erst, wenn ein Betreiber sie erlaubt.',
  'All votes of the day': 'Alle Stimmen des Tages',
  'More than {each} for each player, and more than {fewest}, do not count for the rank until an operator allows them.':
    'Was über {each} je Spieler und über {fewest} hinausgeht, zählt für den Rang erst, wenn ein Betreiber es erlaubt.',
  '“Players” is the highest number that our own checks saw on the day or in the {days} days before. A game server can tell us any number, so more than {players} count only up to twice the usual number, the median of the seven days before, and more than {most} as {most}. A server’s own reports do not count. A day on which a server hides its players counts as one with {hidden}. Where our checks see no number, because the game cannot be asked or was not asked yet, {players} are assumed.':
    '„Spieler“ ist die höchste Zahl, die unsere eigenen Prüfungen an dem Tag oder in den {days} Tagen davor sahen. Ein Spielserver kann uns jede Zahl nennen, daher zählen mehr als {players} nur bis zum Doppelten der üblichen Zahl, des Medians der sieben Tage davor, und mehr als {most} als {most}. Eigene Meldungen eines Servers zählen nicht. Ein Tag, an dem ein Server seine Spieler verbirgt, zählt wie einer mit {hidden}. Wo unsere Prüfungen keine Zahl sehen, weil sich das Spiel nicht abfragen lässt oder noch nicht abgefragt wurde, werden {players} angenommen.',
  'For example, a server with at most {players} players gets {votes} votes of new names in a day. From one network they count as {together}, from {votes} networks as {apart}. A vote party of 200 at a server with 120 players counts in full.':
    'Zum Beispiel bekommt ein Server mit höchstens {players} Spielern an einem Tag {votes} Stimmen neuer Namen. Aus einem Netz zählen sie als {together}, aus {votes} Netzen als {apart}. Eine Abstimmung von 200 Spielern auf einem Server mit 120 Spielern zählt ganz.',
  'What honest servers keep': 'Was ehrliche Server behalten',
  'A large server that joins: 600 players, 420 votes a day':
    'Ein großer Server kommt dazu: 600 Spieler, 420 Stimmen am Tag',
  'The same, with votes that were imported from another list':
    'Der gleiche, mit Stimmen, die aus einer anderen Liste übernommen wurden',
  'A video brings 370 players and 600 votes a day to a server with 30 and 40':
    'Ein Video bringt einem Server mit 30 Spielern und 40 Stimmen am Tag 370 Spieler und 600 Stimmen dazu',
  'A small server: 12 players, 37 votes a day': 'Ein kleiner Server: 12 Spieler, 37 Stimmen am Tag',
  'The same, and all its votes come through the API':
    'Der gleiche, und alle seine Stimmen kommen über die API',
  'An operator can allow the votes of the first days.':
    'Ein Betreiber kann die Stimmen der ersten Tage erlauben.',
  'With its imported history of players, all count at once.':
    'Mit seinem übernommenen Spielerverlauf zählen sofort alle.',
  'Nothing is needed.': 'Nichts ist nötig.',
  'An operator allows its votes, with one press. Or its players vote on the page {known} times: then their names are known.':
    'Ein Betreiber erlaubt seine Stimmen mit einem Klick. Oder seine Spieler stimmen {known}-mal auf der Seite ab: Dann sind ihre Namen bekannt.',
  '{counted} of {votes}': '{counted} von {votes}',
  'Counted a day, first {days} days': 'Gezählt am Tag, in den ersten {days} Tagen',
  'After them': 'Danach',
  'What helps': 'Was hilft',
  'Votes from before {day}, and votes that were imported, count in full.':
    'Stimmen von vor dem {day} und importierte Stimmen zählen ganz.',
  'A further vote never lowers a rank, so nobody harms a server by voting for it. The owner sees on the statistics page how many votes count, and why the others do not.':
    'Eine weitere Stimme verschlechtert einen Rang nie, also schadet niemand einem Server, indem er für ihn stimmt. Wer den Server eingetragen hat, sieht unter „Statistik“, wie viele Stimmen zählen und warum die übrigen nicht.',
  'For the rank they weigh {rankVotes} (<link>why</link>).':
    'Für den Rang wiegen sie {rankVotes} (<link>warum</link>).',
  'For the rank': 'Für den Rang',
  '{votes} for the rank': '{votes} für den Rang',
  Uptime: 'Verfügbarkeit',
  'The share of the last 30 full days in which our own checks reached the server. Servers that no check has reached rank last. A server’s own reports do not count.':
    'Der Anteil der letzten 30 vollen Tage, in dem unsere eigenen Prüfungen den Server erreichten. Server, die keine Prüfung erreichte, stehen hinten. Eigene Meldungen eines Servers zählen nicht.',
  'Age of the listing': 'Alter des Eintrags',
  'Servers that were listed earlier rank higher; if that is equal too, the lower id ranks higher.':
    'Früher gelistete Server stehen höher; ist auch das gleich, steht die kleinere Id höher.',
  'Nothing else counts. <strong>Premium</strong> is a label beside the name that an operator of {name} gives to a server. It does not change the rank, and players cannot vote more for it.':
    'Sonst zählt nichts. <strong>Premium</strong> ist eine Kennzeichnung neben dem Namen, die ein Betreiber von {name} einem Server gibt. Sie ändert den Rang nicht, und Spieler können nicht öfter abstimmen.',
  'What does not count': 'Was nicht zählt',
  'A second vote by the same player for the same server within 24 hours. It is refused. Names that look the same count as one player.':
    'Eine zweite Stimme desselben Spielers für denselben Server innerhalb von 24 Stunden. Sie wird abgelehnt. Namen, die gleich aussehen, zählen als ein Spieler.',
  'Votes that an operator of {name} excluded, for example bought or automated votes. Each exclusion is logged with its reason and can be undone.':
    'Stimmen, die ein Betreiber von {name} ausgeschlossen hat, etwa gekaufte oder automatische. Jeder Ausschluss wird mit seinem Grund protokolliert und kann zurückgenommen werden.',
  'Votes of the vote form that look unusual, until an operator lets them count. Their players see that.':
    'Auffällige Stimmen aus dem Formular, bis ein Betreiber sie zählen lässt. Die Spieler sehen das.',
  'Hidden and removed servers. They have no rank.': 'Verborgene und entfernte Server. Sie haben keinen Rang.',
  'Time without checks, for example because our own network failed. It counts neither as uptime nor as downtime.':
    'Zeit ohne Prüfungen, etwa weil unser eigenes Netz ausfiel. Sie zählt weder als verfügbar noch als ausgefallen.',
  'Delivery to the server’s plugin makes no difference: a vote counts when it is cast.':
    'Ob eine Stimme beim Plugin des Servers ankommt, ändert nichts: Sie zählt, sobald sie abgegeben ist.',
  'A server’s rank': 'Der Rang eines Servers',
  'Name, or the last part of the page’s address.': 'Name oder der letzte Teil der Adresse seiner Seite.',
  Check: 'Prüfen',
  'No listed server has a name like “<bdi>{search}</bdi>”.':
    'Kein gelisteter Server heißt ähnlich wie „<bdi>{search}</bdi>“.',
  'Choose a server:': 'Wähle einen Server:',
  'rank {rank}': 'Rang {rank}',
  'uptime (equal votes)': 'Verfügbarkeit (bei gleich vielen Stimmen)',
  'age of the listing (equal votes and uptime)':
    'Alter des Eintrags (bei gleichen Stimmen und Verfügbarkeit)',
  'lower id (all else equal)': 'kleinere Id (bei sonst gleichen Werten)',
  'It has {now} now; the next ranking counts them.':
    'Jetzt hat er {now}; die nächste Rangliste zählt sie mit.',
  'It had {votes} at {time}.': 'Er hatte {votes} um {time}.',
  'It had {votes}.': 'Er hatte {votes}.',
  'It was listed after the last ranking and gets its rank with the next one.':
    'Er wurde nach der letzten Rangliste gelistet und bekommt seinen Rang mit der nächsten.',
  '<strong><bdi>{server}</bdi></strong> has rank <strong>{rank}</strong> of {listed}. {why}':
    '<strong><bdi>{server}</bdi></strong> hat Rang <strong>{rank}</strong> von {listed}. {why}',
  'The server and its neighbours in the ranking': 'Der Server und seine Nachbarn in der Rangliste',
  none: 'keine',
  'Decided by': 'Entschieden durch',
  'this server': 'dieser Server',
  'above by {by}': 'darüber durch {by}',
  'below by {by}': 'darunter durch {by}',
  'Votes per day': 'Stimmen je Tag',
  'Votes in the last {days} days': 'Stimmen der letzten {days} Tage',
  'No votes in this period.': 'Keine Stimmen in dieser Zeit.',
  'Votes by UTC day': 'Stimmen je UTC-Tag',
  Day: 'Tag',
  'This listing does not have this language.': 'Dieses Verzeichnis gibt es nicht in dieser Sprache.',
  'This listing does not have this page.': 'Dieses Verzeichnis hat diese Seite nicht.',
  '{title}: {listing}.': '{title}: {listing}.',
  'This month': 'Dieser Monat',
  Streak: 'Serie',
  'Next vote': 'Nächste Stimme',
  now: 'jetzt',
  'There is no tag at this address.': 'Unter dieser Adresse gibt es kein Schlagwort.',
  'This page of the ranking does not exist.': 'Diese Seite der Rangliste gibt es nicht.',
  '{heading}, page {page}': '{heading}, Seite {page}',
  'Search: {words}': 'Suche: {words}',
  'Search: “<bdi>{words}</bdi>”': 'Suche: „<bdi>{words}</bdi>“',
  Search: 'Suche',
  'Servers found': 'Gefundene Server',
  'There is no game at this address.': 'Unter dieser Adresse gibt es kein Spiel.',
  '{total, plural, one {# {of} server} other {# {of} servers}}':
    '{total, plural, one {# {of}-Server} other {# {of}-Server}}',
  '{what} on {site}': '{what} auf {site}',
  '{where}, {order}, with players and status': '{where}, {order}, mit Spielern und Status',
  '{names} and more': '{names} und mehr',
  'ranked by votes in {days} days': 'geordnet nach Stimmen in {days} Tagen',
  'with the most players first': 'die meisten Spieler zuerst',
  'newest first': 'neueste zuerst',
  'best rated first; servers with fewer than {reviews} reviews follow':
    'am besten bewertete zuerst; Server mit weniger als {reviews} Bewertungen folgen',
  'with the highest uptime in 30 days first, by our own checks':
    'die höchste Verfügbarkeit in 30 Tagen zuerst, nach unseren eigenen Prüfungen',
  'The filter “online” uses data up to ten minutes old; the status shown is current.':
    'Der Filter „online“ nutzt Daten, die bis zu zehn Minuten alt sind; der gezeigte Status ist aktuell.',
  '{online} online': '{online} online',
  'The order is up to ten minutes old; the numbers are current.':
    'Die Reihenfolge ist bis zu zehn Minuten alt; die Zahlen sind aktuell.',
  'No server has a name, text or address like {named} and matches the filters.':
    'Kein Server mit einem Namen, Text oder einer Adresse wie {named} passt zu den Filtern.',
  'No server has a name, text or address like {named}.':
    'Kein Server hat einen Namen, Text oder eine Adresse wie {named}.',
  '{rows} with a name, text or address like {named}.':
    '{rows} mit einem Namen, Text oder einer Adresse wie {named}.',
  'The {rows} best matches for {named} among names, texts and addresses.':
    'Die {rows} besten Treffer für {named} unter Namen, Texten und Adressen.',
  'No server has the address {named} and matches the filters.':
    'Kein Server mit der Adresse {named} passt zu den Filtern.',
  'No server has the address {named}.': 'Kein Server hat die Adresse {named}.',
  'The {rows} best ranked servers': 'Die {rows} am besten platzierten Server',
  '{many} with the address {named}.': '{many} mit der Adresse {named}.',
  'No server has the address {named}. With another port at this host: {many}.':
    'Kein Server hat die Adresse {named}. Mit anderem Port an diesem Host: {many}.',
  'Check the address, or search for the server’s name.':
    'Prüfe die Adresse, oder suche nach dem Namen des Servers.',
  'Filters apply to the best matches only.': 'Filter gelten nur für die besten Treffer.',
  '{rows} with a name, text or address like {named}, best matches first.':
    '{rows} mit einem Namen, Text oder einer Adresse wie {named}, beste Treffer zuerst.',
  'Try a part of it, such as its rarest word. Small typos do no harm.':
    'Versuche einen Teil davon, etwa das seltenste Wort. Kleine Tippfehler schaden nicht.',
  '“<bdi>{words}</bdi>”': '„<bdi>{words}</bdi>“',
  'Search all servers': 'Alle Server durchsuchen',
  'Show the whole ranking': 'Die ganze Rangliste zeigen',
  'The filter “online” is updated every ten minutes.': 'Der Filter „online“ wird alle zehn Minuten erneuert.',
  'No servers are listed yet. Add one in two minutes: enter its address and verify that you own it.':
    'Noch sind keine Server gelistet. Füge in zwei Minuten einen hinzu: Gib seine Adresse ein und zeige, dass er dir gehört.',
  'Add the first server': 'Den ersten Server hinzufügen',
  Pages: 'Seiten',
  'Page {page} of {pages}': 'Seite {page} von {pages}',
  'Too many files from your network address.': 'Zu viele Dateien von deiner Netzwerkadresse.',
  'Too many pages from your network address or account.':
    'Zu viele Seiten von deiner Netzwerkadresse oder deinem Konto.',
  'Too many searches from your network address.': 'Zu viele Suchen von deiner Netzwerkadresse.',
  'Review saved. It becomes public after an operator approves it.':
    'Bewertung gespeichert. Sie wird öffentlich, sobald ein Betreiber sie freigibt.',
  'Review deleted.': 'Bewertung gelöscht.',
  'The operator has hidden this server. Only its owner and operators can see this page.':
    'Der Betreiber hat diesen Server verborgen. Nur der Besitzer und Betreiber sehen diese Seite.',
  'Votes in 30 days': 'Stimmen in 30 Tagen',
  'Days are UTC days. Times are <span>UTC</span>.': 'Tage sind UTC-Tage. Zeiten sind <span>UTC</span>.',
  'Report this server': 'Diesen Server melden',
  '{server}{game}: {status}, rank {rank}, {votes} in 30 days.':
    '{server}{game}: {status}, Rang {rank}, {votes} in 30 Tagen.',
  'Status of {server}': 'Status von {server}',
  'Players: {range}': 'Spieler: {range}',
  'Latency: {range}': 'Latenz: {range}',
  offline: 'offline',
  '“Has voted”: a vote of a player with this name is known. “New account”: the reviewer signed up less than 30 days ago.':
    '„Hat abgestimmt“: Eine Stimme eines Spielers mit diesem Namen ist bekannt. „Neues Konto“: Das Konto ist jünger als 30 Tage.',
  'There are no reviews on this page.': 'Auf dieser Seite gibt es keine Bewertungen.',
  'No reviews yet.': 'Noch keine Bewertungen.',
  Reviews: 'Bewertungen',
  'Too many random servers from your network address.':
    'Zu viele zufällige Server von deiner Netzwerkadresse.',
  Dashboard: 'Dashboard',
  'not checked yet': 'noch nicht geprüft',
  'How to join': 'So spielst du mit',
  Vote: 'Abstimmen',
  Favourite: 'Favorit',
  'An operator of this listing confirmed the owner':
    'Ein Betreiber dieses Verzeichnisses hat den Besitzer bestätigt',
  'Owner confirmed': 'Besitzer bestätigt',
  'The owner showed control of this server': 'Der Besitzer hat gezeigt, dass er diesen Server kontrolliert',
  'Ownership proven': 'Besitz nachgewiesen',
  'Offline since {time} ({ago}).': 'Offline seit {time} ({ago}).',
  'Last seen online {time}.': 'Zuletzt online gesehen: {time}.',
  'Not seen online yet.': 'Noch nie online gesehen.',
  About: 'Über den Server',
  'Each player has one vote for a server in 24 hours.':
    'Jeder Spieler hat in 24 Stunden eine Stimme je Server.',
  'no reviews yet': 'noch keine Bewertungen',
  Version: 'Version',
  Latency: 'Latenz',
  'Listed since': 'Gelistet seit',
  '{latency} ms now': 'jetzt {latency} ms',
  '30-day average {average} ms': 'im Mittel von 30 Tagen {average} ms',
  'You cannot review your own server.': 'Deinen eigenen Server kannst du nicht bewerten.',
  'Confirm your e-mail address to write a review.':
    'Bestätige deine E-Mail-Adresse, um eine Bewertung zu schreiben.',
  'Your review': 'Deine Bewertung',
  '<a>Sign in</a> or <a2>sign up</a2> to write a review.':
    '<a>Melde dich an</a> oder <a2>registriere dich</a2>, um eine Bewertung zu schreiben.',
  'Edit your review': 'Deine Bewertung ändern',
  'Delete your review': 'Deine Bewertung löschen',
  'This deletes your review and the owner’s answer. It cannot be undone.':
    'Das löscht deine Bewertung und die Antwort des Besitzers. Es lässt sich nicht zurücknehmen.',
  'Delete review': 'Bewertung löschen',
  'Stars for <bdi>{name}</bdi>': 'Sterne für <bdi>{name}</bdi>',
  Choose: 'Wählen',
  'Review (optional)': 'Bewertung (freiwillig)',
  'Up to {characters} characters.': 'Bis zu {characters} Zeichen.',
  'Displayed name': 'Angezeigter Name',
  'An operator approves your review before it is public, also after each edit.':
    'Ein Betreiber gibt deine Bewertung frei, bevor sie öffentlich ist, auch nach jeder Änderung.',
  'An operator approves your review before it is public.':
    'Ein Betreiber gibt deine Bewertung frei, bevor sie öffentlich ist.',
  'Save changes': 'Änderungen speichern',
  'Submit review': 'Bewertung absenden',
  'version {version}': 'Version {version}',
  'online now': 'jetzt online',
  Servers: 'Server',
  Game: 'Spiel',
  'Any game': 'Alle Spiele',
  Tag: 'Schlagwort',
  'Any tag': 'Alle Schlagwörter',
  'Not with a tag': 'Nicht mit einem Schlagwort',
  Country: 'Land',
  'Any country': 'Alle Länder',
  'Online now': 'Jetzt online',
  Show: 'Zeigen',
  Newest: 'Neueste',
  'Servers by tag': 'Server nach Schlagwort',
  'Sort by': 'Sortieren nach',
  'Random server': 'Zufälliger Server',
  'Any version': 'Alle Versionen',
  'Active filters': 'Aktive Filter',
  'Remove the filter': 'Entferne den Filter',
  'All servers': 'Alle Server',
  '{of} servers': '{of}-Server',
  'Game servers': 'Spielserver',
  'in {country}': 'in {country}',
  'for version {version}': 'für Version {version}',
  'Online {of} servers': '{of}-Server online',
  'Online servers': 'Server online',
  'Vote for {server}': 'Für {server} abstimmen',
  'Vote for {server} once in 24 hours, without an account. You see whether the vote arrives in the game.':
    'Stimme alle 24 Stunden ohne Konto für {server} ab. Du siehst, ob die Stimme im Spiel ankommt.',
  'Vote for <bdi>{server}</bdi>': 'Für <bdi>{server}</bdi> abstimmen',
  'Your vote': 'Deine Stimme',
  'From the owner': 'Vom Besitzer',
  'About <bdi>{server}</bdi>': 'Über <bdi>{server}</bdi>',
  'The owner has switched off votes on this page.': 'Der Besitzer hat Stimmen auf dieser Seite abgeschaltet.',
  'This listing has no votes on this page.': 'In diesem Verzeichnis gibt es keine Stimmen auf dieser Seite.',
  'Your player name': 'Dein Spielername',
  'As in the game.': 'Wie im Spiel.',
  'A vote without an account needs JavaScript. Allow it for this page, or <a>sign in</a> with an account that is older than 7 days.':
    'Eine Stimme ohne Konto braucht JavaScript. Erlaube es für diese Seite, oder <a>melde dich an</a>, mit einem Konto, das älter als 7 Tage ist.',
  'Proving that you are not a script …': 'Es wird nachgewiesen, dass du kein Skript bist …',
  'Voting …': 'Stimme wird abgegeben …',
  'The proof took too long. Try again.': 'Der Nachweis hat zu lange gedauert. Versuche es noch einmal.',
  'Your browser could not make the proof. Sign in with an account that is older than 7 days.':
    'Dein Browser konnte den Nachweis nicht erbringen. Melde dich mit einem Konto an, das älter als 7 Tage ist.',
  'Your browser makes the proof only on a secure page (https). Sign in with an account that is older than 7 days.':
    'Dein Browser erbringt den Nachweis nur auf einer sicheren Seite (https). Melde dich mit einem Konto an, das älter als 7 Tage ist.',
  'The listing does not answer. Try again.': 'Das Verzeichnis antwortet nicht. Versuche es noch einmal.',
  'No server is listed at this address.': 'Unter dieser Adresse ist kein Server gelistet.',
  'Your vote for {server}': 'Deine Stimme für {server}',
  'The reason is your network: more new players than usual voted from it. Votes count at once if you sign in with an account that is older than 7 days, or if you vote an hour later, or tomorrow (UTC), and fewer new players vote before you.':
    'Der Grund ist dein Netz: Von dort haben mehr neue Spieler als üblich abgestimmt. Stimmen zählen sofort, wenn du dich mit einem Konto anmeldest, das älter als 7 Tage ist, oder wenn du eine Stunde später oder morgen (UTC) abstimmst und vor dir weniger neue Spieler abstimmen.',
  'The reason is your provider’s network: many new players from it vote for <bdi>{server}</bdi> now. Votes count at once if you sign in with an account that is older than 7 days, or in some hours.':
    'Der Grund ist das Netz deines Anbieters: Von dort stimmen gerade viele neue Spieler für <bdi>{server}</bdi> ab. Stimmen zählen sofort, wenn du dich mit einem Konto anmeldest, das älter als 7 Tage ist, oder in einigen Stunden.',
  'The reason is the mail domain of your account: many new players with it vote for <bdi>{server}</bdi> now. Your votes count again in some hours.':
    'Der Grund ist die Mail-Domain deines Kontos: Mit ihr stimmen gerade viele neue Spieler für <bdi>{server}</bdi> ab. In einigen Stunden zählen deine Stimmen wieder.',
  'This is not because of you: many new players are voting for <bdi>{server}</bdi> now. Votes of players who voted for it before are not held, and votes from an account that is older than 7 days are held less often.':
    'Das liegt nicht an dir: Gerade stimmen viele neue Spieler für <bdi>{server}</bdi> ab. Stimmen von Spielern, die schon für ihn abgestimmt haben, werden nicht zurückgehalten, und Stimmen von einem Konto, das älter als 7 Tage ist, werden seltener zurückgehalten.',
  'The next try is {time}.': 'Der nächste Versuch ist {time}.',
  'The game server does not take votes now. Your vote is kept and sent when it does.':
    'Der Spielserver nimmt gerade keine Stimmen an. Deine Stimme wird aufbewahrt und gesendet, sobald er es tut.',
  'Your vote is on its way to the game server.': 'Deine Stimme ist unterwegs zum Spielserver.',
  waiting: 'wartet',
  'being sent': 'wird gesendet',
  'Your vote is being sent to the game server.': 'Deine Stimme wird gerade an den Spielserver gesendet.',
  'sent, not confirmed': 'gesendet, nicht bestätigt',
  'Your vote was sent. This game server does not confirm votes.':
    'Deine Stimme wurde gesendet. Dieser Spielserver bestätigt Stimmen nicht.',
  delivered: 'zugestellt',
  'Your vote arrived at the game server.': 'Deine Stimme ist beim Spielserver angekommen.',
  unconfirmed: 'unbestätigt',
  'This listing was restored from a backup. Your vote may have reached the game server before that. The owner of the server can send it again.':
    'Dieses Verzeichnis wurde aus einer Sicherung wiederhergestellt. Deine Stimme kam davor vielleicht beim Spielserver an. Der Besitzer des Servers kann sie noch einmal senden.',
  'Your vote was sent, but the server’s website answered with an error. The owner of the server can send it again.':
    'Deine Stimme wurde gesendet, aber die Website des Servers hat mit einem Fehler geantwortet. Der Besitzer des Servers kann sie noch einmal senden.',
  'Your vote was sent, but the game server did not answer. The owner of the server can send it again.':
    'Deine Stimme wurde gesendet, aber der Spielserver hat nicht geantwortet. Der Besitzer des Servers kann sie noch einmal senden.',
  failed: 'fehlgeschlagen',
  'Your vote may have reached the game server. The owner of the server can send it again.':
    'Deine Stimme hat den Spielserver vielleicht erreicht. Der Besitzer des Servers kann sie noch einmal senden.',
  'Your vote counts here, but the game server did not take it. The owner of the server can send it again.':
    'Deine Stimme zählt hier, aber der Spielserver hat sie nicht angenommen. Der Besitzer des Servers kann sie noch einmal senden.',
  'not forwarded': 'nicht weitergeleitet',
  'This vote was cast on another listing.': 'Diese Stimme wurde in einem anderen Verzeichnis abgegeben.',
  quarantined: 'zurückgehalten',
  'Your vote waits for a decision of an operator.':
    'Deine Stimme wartet auf die Entscheidung eines Betreibers.',
  excluded: 'ausgeschlossen',
  'Your vote is not sent to the game server.': 'Deine Stimme wird nicht an den Spielserver gesendet.',
  'This listing sends no votes to this server. Its plugin may ask the listing for your vote.':
    'Dieses Verzeichnis sendet keine Stimmen an diesen Server. Sein Plugin kann das Verzeichnis nach deiner Stimme fragen.',
  'The owner has switched off sending votes to the game server.':
    'Der Besitzer hat das Senden von Stimmen an den Spielserver abgeschaltet.',
  'Top voters': 'Fleißigste Wähler',
  'Last month': 'Letzter Monat',
  'No votes.': 'Keine Stimmen.',
  'You have changed your reviews too often.': 'Du hast deine Bewertungen zu oft geändert.',
  'This vote is not accepted. If you think that this is a mistake, contact the operator of this listing.':
    'Diese Stimme wird nicht angenommen. Hältst du das für einen Fehler, wende dich an den Betreiber dieses Verzeichnisses.',
  'Enter the name of your player.': 'Gib den Namen deines Spielers ein.',
  'Your vote may have been counted. Vote again: if it was counted, the page says so.':
    'Deine Stimme wurde vielleicht gezählt. Stimme noch einmal ab: Wurde sie gezählt, sagt es die Seite.',
  '“{username}” voted for this server on {time}. The next vote is possible on {next}.':
    '„{username}“ hat am {time} für diesen Server abgestimmt. Die nächste Stimme ist am {next} möglich.',
  'The owner of this server has switched off votes on this page. Vote as the owner describes.':
    'Der Besitzer dieses Servers hat Stimmen auf dieser Seite abgeschaltet. Stimme so ab, wie er es beschreibt.',
  'Votes on this page are switched off. Vote as the owner of the server describes.':
    'Stimmen auf dieser Seite sind abgeschaltet. Stimme so ab, wie es der Besitzer des Servers beschreibt.',
  'You have voted for this server as another player today. An account counts as one player.':
    'Du hast heute schon als ein anderer Spieler für diesen Server abgestimmt. Ein Konto zählt als ein Spieler.',
  'Your network has voted for this server as {players} today. Sign in with an account that is older than 7 days to vote as one more, or vote tomorrow: the day ends at midnight UTC.':
    'Aus deinem Netz wurde heute schon als {players} für diesen Server abgestimmt. Melde dich mit einem Konto an, das älter als 7 Tage ist, um als ein weiterer abzustimmen, oder stimme morgen ab: Der Tag endet um Mitternacht UTC.',
  'Your network has voted for this server as {players} today, and more are not possible. Vote from another network, or tomorrow: the day ends at midnight UTC.':
    'Aus deinem Netz wurde heute schon als {players} für diesen Server abgestimmt, mehr sind nicht möglich. Stimme aus einem anderen Netz ab oder morgen: Der Tag endet um Mitternacht UTC.',
  'You have voted for {number} servers today, and more are not possible. Vote again tomorrow: the day ends at midnight UTC.':
    'Du hast heute für {number} Server abgestimmt, mehr sind nicht möglich. Stimme morgen wieder ab: Der Tag endet um Mitternacht UTC.',
  'Too many votes came from your network today. Vote with an account that is older than 7 days, from another network, or tomorrow: the day ends at midnight UTC.':
    'Aus deinem Netz kamen heute zu viele Stimmen. Stimme mit einem Konto ab, das älter als 7 Tage ist, aus einem anderen Netz oder morgen: Der Tag endet um Mitternacht UTC.',
  'Your account is younger than 7 days, has a new e-mail address, or its address is not confirmed. Until then you vote as without an account, which needs JavaScript.':
    'Dein Konto ist jünger als 7 Tage, hat eine neue E-Mail-Adresse, oder seine Adresse ist nicht bestätigt. So lange stimmst du wie ohne Konto ab, und das braucht JavaScript.',
  'Several players on one connection': 'Mehrere Spieler an einem Anschluss',
  'On one day, {few} new players of one network can vote for a server. Over all servers, the votes of {more} count at once; the votes of others wait for an operator. Players who voted from the network on {days} earlier days of the last month, and users with an account older than 7 days, do not count as new: with them, {most} players of one network can vote for a server. The day ends at midnight UTC.':
    'An einem Tag können {few} neue Spieler eines Netzes für einen Server abstimmen. Über alle Server zählen die Stimmen von {more} sofort; die Stimmen weiterer warten auf einen Betreiber. Spieler, die an {days} früheren Tagen des letzten Monats aus dem Netz abgestimmt haben, und Nutzer mit einem Konto, das älter als 7 Tage ist, gelten nicht als neu: Mit ihnen können {most} Spieler eines Netzes für einen Server abstimmen. Der Tag endet um Mitternacht UTC.',
  'not known yet': 'noch nicht bekannt',
  unknown: 'unbekannt',
  'Players on average, day by day: {numbers}': 'Spieler im Mittel, Tag für Tag: {numbers}',
  '48 hours': '48 Stunden',
  '30 days': '30 Tage',
  'All time': 'Gesamte Zeit',
  'Choose one of these.': 'Wähle einen dieser Werte.',
  'Your favourites': 'Deine Favoriten',
  'You changed your favourites too often.': 'Du hast deine Favoriten zu oft geändert.',
  'You have {most} favourites, the most possible. Remove one first.':
    'Du hast {most} Favoriten, mehr geht nicht. Entferne zuerst einen.',
  'not listed any more': 'nicht mehr gelistet',
  Remove: 'Entfernen',
  'a server that is not listed any more': 'ein Server, der nicht mehr gelistet ist',
  'A server that was removed or hidden': 'Ein Server, der entfernt oder verborgen wurde',
  'no votes on the page': 'keine Stimmen auf der Seite',
  'Vote now': 'Jetzt abstimmen',
  'for {server}': 'für {server}',
  'After your first vote on a server’s page, this page shows when you may vote next.':
    'Nach deiner ersten Stimme auf der Seite eines Servers zeigt diese Seite, wann du wieder abstimmen kannst.',
  'The times are for <bdi>{username}</bdi>, the player name of your last vote on a server’s page.':
    'Die Zeiten gelten für <bdi>{username}</bdi>, den Spielernamen deiner letzten Stimme auf der Seite eines Servers.',
  'Remove from your favourites': 'Aus deinen Favoriten entfernen',
  'Add to your favourites': 'Zu deinen Favoriten hinzufügen',
  'Its players or votes are not real': 'Seine Spieler oder Stimmen sind nicht echt',
  'Its name, text or pictures are offensive': 'Sein Name, Text oder seine Bilder sind anstößig',
  'It cheats or harms players': 'Er betrügt oder schädigt Spieler',
  'It uses another server’s name or address': 'Er nutzt den Namen oder die Adresse eines anderen Servers',
  'Something else': 'Etwas anderes',
  'Report {server}': '{server} melden',
  'Thank you': 'Danke',
  'The operators of this listing will look at your report.':
    'Die Betreiber dieses Verzeichnisses sehen sich deine Meldung an.',
  'Choose a reason': 'Wähle einen Grund',
  'Report <bdi>{server}</bdi>': '<bdi>{server}</bdi> melden',
  'Only the operators of this listing see your report. They see your account if you are signed in, and not your network address.':
    'Nur die Betreiber dieses Verzeichnisses sehen deine Meldung. Sie sehen dein Konto, wenn du angemeldet bist, und nicht deine Netzwerkadresse.',
  'What is wrong?': 'Was stimmt nicht?',
  'What should we know?': 'Was sollen wir wissen?',
  'Send report': 'Meldung senden',
  'Back to the server': 'Zurück zum Server',
  'Too many votes were started from your network. Try again in a minute, or sign in with an account that is older than 7 days.':
    'Aus deinem Netz wurden zu viele Stimmen begonnen. Versuche es in einer Minute noch einmal, oder melde dich mit einem Konto an, das älter als 7 Tage ist.',
  'Your network has sent too many reports.': 'Aus deinem Netz kamen zu viele Meldungen.',
  'This server has no such vote.': 'Dieser Server hat keine solche Stimme.',
  Share: 'Teilen',
  'The banner': 'Das Banner',
  'The badge': 'Das Abzeichen',
  'The images and the widget update automatically. Embed them on a website, in a forum or in a README:':
    'Die Bilder und das Widget erneuern sich von selbst. Binde sie auf einer Website, in einem Forum oder in einer README ein:',
  'Show embed code': 'Code zum Einbinden zeigen',
  'Page address': 'Adresse der Seite',
  'the page’s address': 'die Adresse der Seite',
  'Banner, HTML': 'Banner, HTML',
  'the banner as HTML': 'das Banner als HTML',
  'Banner, Markdown': 'Banner, Markdown',
  'the banner as Markdown': 'das Banner als Markdown',
  'Banner, BBCode': 'Banner, BBCode',
  'the banner as BBCode': 'das Banner als BBCode',
  'Widget with a vote button, HTML': 'Widget mit Knopf zum Abstimmen, HTML',
  'the widget as HTML': 'das Widget als HTML',
  'Badge, Markdown': 'Abzeichen, Markdown',
  'the badge as Markdown': 'das Abzeichen als Markdown',
  'Badge, BBCode': 'Abzeichen, BBCode',
  'the badge as BBCode': 'das Abzeichen als BBCode',
} as const satisfies Record<string, string>;
