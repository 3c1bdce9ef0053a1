/** Games whose vote plugins ask for a player's SteamID. */
const GAMES = /^(rust|ark|ase|asa|atlas|conanexiles|hurtworld|dayz|unturned|sdtd|7d2d|reignofkings)/;

/** Whether the vote plugins of a game ask for votes by SteamID64, so that players must vote with it as their name. */
export function votesBySteamId(game: string | null | undefined): boolean {
  return game ? GAMES.test(game) : false;
}
