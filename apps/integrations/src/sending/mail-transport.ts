import pLimit from 'p-limit';
import { type Send, SendingError } from './http-client.ts';

export interface OutgoingMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** what the Message-ID is made of: the same for the same mail, also when it is sent again */
  readonly id: string;
  /** where whoever gets it ends it, if they can */
  readonly unsubscribeUrl?: string;
}

/** The mail was not accepted; the message says why, without address and text. */
export class MailError extends Error {
  /** whether the server refused this mail, rather than failed: others may be accepted */
  readonly isRefusal: boolean;
  /** whether it said that no address of it will ever be accepted */
  readonly isPermanent: boolean;
  constructor(message: string, isRefusal: boolean, isPermanent: boolean) {
    super(message);
    this.isRefusal = isRefusal;
    this.isPermanent = isPermanent;
  }
}

/** How many mails the server gets at the same time. */
export const maxMailConnections = 4;
const refusalCodes = ['EENVELOPE', 'EMESSAGE'];

/** Sends mail through the server of SMTP_URL. */
export async function mailTransport(options: {
  readonly url: string;
  readonly from: string;
  /** the host in Message-IDs */
  readonly host: string;
  readonly timeoutMs: number;
}) {
  const { url, from, host, timeoutMs } = options;
  // Loaded where there is a server: most processes send no mail, and are smaller without the library.
  const { createTransport } = await import('nodemailer');
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport(
    {
      url,
      pool: true,
      maxConnections: maxMailConnections,
      ...timeouts,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  return {
    /** Whoever sends many mails waits for a turn with each, before its time begins: otherwise mails to a slow server fail because of those before them. */
    turn: pLimit(maxMailConnections),
    /**
     * Ends after `timeoutMs`, whatever the server does. A mail that it has then may come all the same.
     * @returns those of its addresses that the server has refused
     * @throws MailError unless the server has accepted it for one of them
     */
    send: async ({ to, subject, text, id, unsubscribeUrl }: OutgoingMail): Promise<readonly string[]> => {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const { rejected } = await transport.sendMail({
          signal,
          // Given as an object, an address is not parsed as a list of addresses.
          to: to.map((address) => ({ name: '', address })),
          subject,
          text,
          messageId: `<${id}@${host}>`,
          headers: {
            // Out-of-office replies are not wanted (RFC 3834).
            'Auto-Submitted': 'auto-generated',
            ...(unsubscribeUrl === undefined
              ? {}
              : {
                  'List-Unsubscribe': { prepared: true, foldLines: false, value: `<${unsubscribeUrl}>` },
                  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
                }),
          },
        });
        return rejected;
      } catch (error) {
        if (signal.aborted)
          throw new MailError(`the mail server has not accepted it within ${timeoutMs} ms`, false, false);
        const { code = 'unknown', responseCode } = error as { code?: string; responseCode?: number };
        const status = responseCode === undefined ? code : `${responseCode}, ${code}`;
        const isRefusal = refusalCodes.includes(code);
        const isPermanent = code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500;
        throw new MailError(`the mail server failed (${status})`, isRefusal, isPermanent);
      }
    },
    close: (): void => transport.close(),
  };
}
export type MailTransport = Awaited<ReturnType<typeof mailTransport>>;

const mailScheme = 'mailto:';

/** Sends what is for addresses of mail by the mail server, and everything else as before. */
export function withMail(send: Send, transport: Pick<MailTransport, 'send'> | undefined): Send {
  return async (request) => {
    const { url, headers, body } = request;
    if (!url.startsWith(mailScheme)) return send(request);
    if (transport === undefined) throw new SendingError('no mail server is set up (SMTP_URL)');
    const { subject = '', 'message-id': id = '' } = headers;
    const to = url.slice(mailScheme.length).split(',');
    try {
      const refused = await transport.send({ to, subject, text: body, id });
      const shortfall = `The mail server has refused ${refused.length} of ${to.length} addresses: ${refused.join(', ')}.`;
      return { status: null, retryAfter: undefined, body: '', ...(refused.length > 0 && { shortfall }) };
    } catch (error) {
      throw error instanceof MailError ? new SendingError(error.message) : error;
    }
  };
}
