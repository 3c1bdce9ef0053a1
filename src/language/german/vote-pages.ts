/** Texts of the vote page, of the page after a vote, and of the reminder of the next vote. */
export const VOTE_PAGES = {
  'Your vote waits for a check, {player}.': 'Deine Stimme wird noch geprüft, {player}.',
  'Your vote does not count, {player}.': 'Deine Stimme zählt nicht, {player}.',
  'Your vote counts, {player}.': 'Deine Stimme zählt, {player}.',
  'Your vote is stored, but does not count yet: an operator of this listing checks it. If the operator accepts it, it counts, and the game server can reward it.':
    'Deine Stimme ist gespeichert, zählt aber noch nicht: Ein Betreiber dieser Liste prüft sie. Wird sie freigegeben, zählt sie, und der Spielserver kann sie belohnen.',
  'An operator of this listing has excluded it.': 'Ein Betreiber dieser Liste hat sie ausgeschlossen.',
  'Arrived in {time}.': 'In {time} angekommen.',
  'Your vote was fetched by the game server and arrived in {time}.':
    'Der Spielserver hat deine Stimme abgeholt; sie kam in {time} an.',
  'The game server has fetched your vote.': 'Der Spielserver hat deine Stimme abgeholt.',
  'Your vote waits until the game server fetches it.': 'Deine Stimme wartet, bis der Spielserver sie abholt.',
  'A plugin of the server has claimed your vote for the reward.':
    'Ein Plugin des Servers hat deine Stimme für die Belohnung eingelöst.',
  '<a>{server}</a> has {votes} in 30 days and rank {rank}.':
    '<a>{server}</a> hat {votes} in 30 Tagen und Rang {rank}.',
  '<a>{server}</a> has {votes} in 30 days, which count as {rankVotes} for the rank, and rank {rank}.':
    '<a>{server}</a> hat {votes} in 30 Tagen, die für den Rang als {rankVotes} zählen, und Rang {rank}.',
  '<a>{server}</a> has {votes} this month.': '<a>{server}</a> hat diesen Monat {votes}.',
  '<a>{server}</a> is {votes} ahead.': '<a>{server}</a> liegt {votes} davor.',
  'You voted here; next vote in <b>{time}</b> hours.':
    'Du hast hier abgestimmt; nächste Stimme in <b>{time}</b> Stunden.',
  'Voted today': 'Heute gestimmt',
  'vote in a row': 'Stimme in Folge',
  'votes in a row': 'Stimmen in Folge',
  '{more, plural, one {# more makes} other {# more make}} it {goal} in a row.':
    'Noch {more}, dann sind es {goal} in Folge.',
  '{votes} this month.': 'Diesen Monat: {votes}.',
  'A streak ends 48 hours after its last vote.': 'Eine Serie endet 48 Stunden nach ihrer letzten Stimme.',
  'Calendar reminder': 'Erinnerung im Kalender',
  left: 'übrig',
  'There is no reminder for this time.': 'Für diese Zeit gibt es keine Erinnerung.',
  'Vote for your other servers': 'Stimme für deine anderen Server',
  '{due} of {all} are due': '{due} von {all} sind dran',
  favourite: 'Favorit',
  favourites: 'Favoriten',
  'Voted less than 24 hours ago': 'Vor weniger als 24 Stunden abgestimmt',
  'You voted here before': 'Hier hast du schon abgestimmt',
  'This list is stored in your browser only.': 'Diese Liste ist nur in deinem Browser gespeichert.',
  '{player} has voted for <bdi>{server}</bdi>.': '{player} hat für <bdi>{server}</bdi> abgestimmt.',
  'The last vote was on {time}.': 'Die letzte Stimme war am {time}.',
  'Vote as another player': 'Als anderer Spieler abstimmen',
  'Not {name}?': 'Nicht {name}?',
} as const;
