import type { User } from '@bunting/contracts';
import type { GatewayConfig } from '../../config.ts';
import type { NewSecret } from '../../unit-of-work/secrets.ts';
import type { Transaction } from '../../unit-of-work/unit-of-work.ts';

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
export async function configuredMailer(
  { SMTP_URL: url, SMTP_FROM: from, GATEWAY_PUBLIC_URL: publicUrl }: Settings,
  warn: (message: string) => void,
) {
  if (url === undefined) return undefined;
  if (!URL.canParse(publicUrl))
    throw new Error('SMTP_URL requires GATEWAY_PUBLIC_URL, which links in mails begin with.');
  // The library is loaded where there is a server: most processes send no mail, and are smaller without it.
  const { createTransport } = await import('nodemailer');
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
}
export type Mailer = NonNullable<Awaited<ReturnType<typeof configuredMailer>>>;

/**
 * Whether a link sets the first password of a new user, or a new one for a user who has forgotten it. The kind is also the path of the page
 * of the link, as in Unleash.
 */
export type PasswordLinkKind = 'new-user' | 'reset-password';

const passwordLinkKinds: Readonly<
  Record<PasswordLinkKind, { readonly hours: number; readonly subject: string; readonly reason: string }>
> = {
  'new-user': {
    hours: 7 * 24,
    subject: 'Welcome to Bunting',
    reason: 'An account was created for you. Choose your password here',
  },
  'reset-password': {
    hours: 24,
    subject: 'Choose a new password for Bunting',
    reason: 'A new password was requested for your account. Choose it here',
  },
};

export function createPasswordLink(
  { links, generateSecretBytes }: Pick<Transaction, 'links' | 'generateSecretBytes'>,
  userId: number,
  { kind, createdBy }: { readonly kind: PasswordLinkKind; readonly createdBy: string | null },
): Promise<NewSecret> {
  return links.create(
    { purpose: 'set-password', userId, createdBy, hours: passwordLinkKinds[kind].hours },
    generateSecretBytes,
  );
}

export function passwordPagePath(secret: string, kind: PasswordLinkKind): string {
  return `/${kind}?token=${secret}`;
}

/** Sends a link by mail. @returns whether it was sent; false without a mail server or an e-mail address */
export async function mailPasswordLink(
  mailer: Mailer | undefined,
  { email }: Pick<User, 'email'>,
  url: string,
  kind: PasswordLinkKind,
): Promise<boolean> {
  if (mailer === undefined || email === undefined) return false;
  const { hours, subject, reason } = passwordLinkKinds[kind];
  const text = `${reason}:\n\n${url}\n\nThe link works once and for ${hours} hours. If you did not expect this mail, ignore it.\n`;
  return mailer.send({ to: email, subject, text });
}
