import { createTransport } from 'nodemailer';
import type { GatewayConfig } from '../../config.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

type Settings = Pick<GatewayConfig, 'SMTP_URL' | 'SMTP_FROM' | 'GATEWAY_PUBLIC_URL'>;

const timeoutMs = 5_000;
/** Maximum mails that wait for the server; further ones are not sent. */
const maxPending = 100;

/**
 * Sends mail through the server of SMTP_URL; undefined without one.
 * @throws Error when GATEWAY_PUBLIC_URL is missing, which links in mails begin with
 */
export const configuredMailer = (
  { SMTP_URL: url, SMTP_FROM: from, GATEWAY_PUBLIC_URL: publicUrl }: Settings,
  warn: (message: string) => void,
) => {
  if (url === undefined) return undefined;
  if (!URL.canParse(publicUrl))
    throw new Error('SMTP_URL requires GATEWAY_PUBLIC_URL, which links in mails begin with.');
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const transport = createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true }, { from });
  let pendingCount = 0;
  return {
    /** Sends a mail. @returns whether the server accepted it; a failure is logged without the text and the address of the mail */
    send: async ({ to, subject, text }: Mail): Promise<boolean> => {
      if (pendingCount >= maxPending) {
        warn(
          `The mailer discarded a mail: ${pendingCount} others wait for the server of SMTP_URL, the limit is ${maxPending}. Check that the server responds, then request the mail again.`,
        );
        return false;
      }
      pendingCount++;
      try {
        // Given as an object, the address is not parsed as a list of addresses.
        await transport.sendMail({ to: { name: '', address: to }, subject, text });
        return true;
      } catch (error) {
        const { code = 'unknown' } = error as { code?: string };
        warn(
          `The mailer could not send a mail: the server of SMTP_URL failed with ${code}. Check the server and the setting, then request the mail again.`,
        );
        return false;
      } finally {
        pendingCount--;
      }
    },
    close: (): void => transport.close(),
  };
};
export type Mailer = NonNullable<ReturnType<typeof configuredMailer>>;
