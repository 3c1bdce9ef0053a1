/** Texts of the favourites page, and of the invitation to make an account. */
export const FAVOURITES = {
  'With an account, you list your server: its name and address are enough to begin.':
    'Mit einem Konto trägst du deinen Server ein: Für den Anfang reichen Name und Adresse.',
  'With an account, your favourites are on one page, with the time of your next vote for each.':
    'Mit einem Konto hast du deine Favoriten auf einer Seite, mit der Zeit deiner nächsten Stimme für jeden.',
  'With an account, <bdi>{server}</bdi> is among your favourites, with the time of your next vote.':
    'Mit einem Konto ist <bdi>{server}</bdi> unter deinen Favoriten, mit der Zeit deiner nächsten Stimme.',
  'The server is now among your favourites.': 'Der Server ist jetzt unter deinen Favoriten.',
  'You have no favourites yet. Press the star of a server that you like, and it waits for you here.':
    'Du hast noch keine Favoriten. Drücke den Stern eines Servers, der dir gefällt, dann steht er hier.',
  'You have written no reviews yet. You write them on the pages of servers.':
    'Du hast noch keine Bewertungen geschrieben. Du schreibst sie auf den Seiten der Server.',
  'Voted {voted}. Next vote {next}.': 'Abgestimmt {voted}. Nächste Stimme {next}.',
} as const;
