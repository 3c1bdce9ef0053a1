import { SOURCE_HEADER as HEADER } from '../../src/demo/udp-game-server.ts';
import { UdpResponder } from './fake-game-servers.ts';

/**
 * A Quake 3 server: `getstatus`, and `getinfo` as ioquake3 answers it (`SVC_Status` and `SVC_Info`); with another prefix
 * and question, one of an earlier Quake.
 */
export class QuakeServer extends UdpResponder {
  /** The status question that it knows, and the beginning of its answer. */
  dialect = { question: 'getstatus', answer: 'statusResponse\n' };
  /** The lines of clients, instead of those of `said`. */
  clients: string[] | undefined;
  /** The settings in its info; undefined if it does not answer `getinfo`. */
  info: Record<string, string> | undefined;
  /** The questions so far, by their first word. */
  readonly questions: string[] = [];

  protected answerTo(request: Buffer): Buffer | undefined {
    const question = request.toString('latin1', 4).split(/[\s\0]/)[0] ?? '';
    this.questions.push(question);
    if (question === this.dialect.question) return this.#answer(this.dialect.answer, this.#status());
    if (question !== 'getinfo' || !this.info) return undefined;
    return this.#answer('infoResponse\n', settingsText(this.info));
  }

  #answer(beginning: string, body: string): Buffer {
    return Buffer.concat([HEADER, Buffer.from(beginning + body, 'latin1')]);
  }

  #status(): string {
    const { motd, version, online, max } = this.said;
    const clients =
      this.clients ?? Array.from({ length: online }, (_, index) => `${index} 48 "player${index}"`);
    const settings = { sv_hostname: motd, mapname: 'q3dm17', sv_maxclients: String(max), version };
    return [settingsText(settings), ...clients, ''].join('\n');
  }
}

function settingsText(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `\\${name}\\${value}`)
    .join('');
}
