import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

interface ReceivedMail {
  readonly to: readonly string[];
  /** as it came, without the escape of lines that begin with a point */
  readonly raw: string;
  /** by lower-case name, unfolded, without encoded words */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** Text as quoted-printable has it. */
function decoded(text: string): string {
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n');
}

const encodedWord = /=\?UTF-8\?([QB])\?([^?]*)\?=(?:\s+(?==\?))?/g;

function headersOf(head: string): ReadonlyMap<string, string> {
  const lines = head.replaceAll(/\r\n[ \t]/g, ' ').split('\r\n');
  return new Map(
    lines.map((line) => {
      const at = line.indexOf(':');
      const value = line
        .slice(at + 1)
        .trim()
        .replaceAll(encodedWord, (_, kind: string, text: string) =>
          kind === 'B' ? Buffer.from(text, 'base64').toString('utf8') : decoded(text.replaceAll('_', ' ')),
        );
      return [line.slice(0, at).toLowerCase(), value];
    }),
  );
}

/** Why a real server might refuse a mail (RFC 5321, 4.5.3.1.6; RFC 5322, 3.6); undefined if it is in order. */
function faultOf(raw: string): string | undefined {
  if (/[^\r]\n|\r(?!\n)/.test(raw)) return 'a line ends without CRLF';
  if (raw.split('\r\n').some((line) => Buffer.byteLength(line) > 998)) return 'a line has more than 998 bytes';
  const names = [...headersOf(raw.split('\r\n\r\n', 1)[0] ?? '').keys()];
  if (names.some((name) => !/^[a-z-]+$/.test(name))) return 'a header has no name';
  const missing = ['date', 'from', 'to', 'message-id', 'subject'].find((name) => !names.includes(name));
  return missing === undefined ? undefined : `the header ${missing} is missing`;
}

type Refusal = { readonly at: 'rcpt' | 'data'; readonly code: number; readonly address?: string };

/** A mail server on this machine, which refuses what is no proper mail. */
export async function startMailServer() {
  const mails: ReceivedMail[] = [];
  const faults: string[] = [];
  let refusal: Refusal | undefined;
  let delayMs = 0;
  const refused = (code: number): Error => Object.assign(new Error('Not now'), { responseCode: code });
  const newServer = () =>
    new SMTPServer({
      authOptional: true,
      closeTimeout: 10,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, callback) => {
        if (refusal?.at === 'rcpt' && (refusal.address ?? address) === address) return callback(refused(refusal.code));
        callback();
      },
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const raw = Buffer.concat(chunks).toString('utf8');
          const fault = faultOf(raw);
          if (fault !== undefined) faults.push(fault);
          if (fault !== undefined || refusal?.at === 'data') return callback(refused(refusal?.code ?? 554));
          const [head = '', ...body] = raw.split('\r\n\r\n');
          mails.push({
            to: session.envelope.rcptTo.map(({ address }) => address),
            raw,
            headers: headersOf(head),
            text: decoded(body.join('\r\n\r\n')),
          });
          setTimeout(callback, delayMs);
        });
      },
    });
  let server = newServer();
  const listen = (port: number) => new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  const stop = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  await listen(0);
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    /** why mails were no proper ones */
    faults,
    /** Refuses everything with a status until it is called without one. */
    refuse: (next?: Refusal): void => void (refusal = next),
    /** Says only after so long that it has a mail. */
    answerAfter: (ms: number): void => void (delayMs = ms),
    goDown: stop,
    comeBack: (): Promise<void> => {
      server = newServer();
      return listen(port);
    },
    stop,
  };
}
export type MailServer = Awaited<ReturnType<typeof startMailServer>>;
