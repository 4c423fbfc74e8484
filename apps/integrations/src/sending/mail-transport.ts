import { createTransport } from 'nodemailer';

/** A mail to one person. */
export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** what the Message-ID is made of: the same for the same mail, also when it is sent again */
  readonly id: string;
  readonly unsubscribeUrl: string;
}

/** The mail was not accepted; the message says why, without address and text. */
export class MailError extends Error {
  /** whether the server refused this mail, rather than failed: others may be accepted */
  readonly isRefusal: boolean;
  constructor(message: string, isRefusal: boolean) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

const maxConnections = 4;
const refusalCodes = ['EENVELOPE', 'EMESSAGE'];

/** Sends mail through the server of SMTP_URL. */
export function mailTransport(options: {
  readonly url: string;
  readonly from: string;
  /** the host in Message-IDs */
  readonly host: string;
  readonly timeoutMs: number;
}) {
  const { url, from, host, timeoutMs } = options;
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport(
    { url, pool: true, maxConnections, ...timeouts, disableFileAccess: true, disableUrlAccess: true },
    { from },
  );
  return {
    /** @throws MailError unless the server has accepted it */
    send: async ({ to, subject, text, id, unsubscribeUrl }: OutgoingMail): Promise<void> => {
      try {
        await transport.sendMail({
          // Given as an object, the address is not parsed as a list of addresses.
          to: { name: '', address: to },
          subject,
          text,
          messageId: `<${id}@${host}>`,
          headers: {
            // Out-of-office replies are not wanted (RFC 3834).
            'Auto-Submitted': 'auto-generated',
            'List-Unsubscribe': { prepared: true, foldLines: false, value: `<${unsubscribeUrl}>` },
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          },
        });
      } catch (error) {
        const { code = 'unknown', responseCode } = error as { code?: string; responseCode?: number };
        const status = responseCode === undefined ? code : `${responseCode}, ${code}`;
        throw new MailError(`the mail server failed (${status})`, refusalCodes.includes(code));
      }
    },
    close: (): void => transport.close(),
  };
}
export type MailTransport = ReturnType<typeof mailTransport>;
