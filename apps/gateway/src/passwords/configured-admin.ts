import type { GatewayConfig } from '../config.ts';
import { passwordFaults } from '../access/passwords/password-policy.ts';
import { namesFault, optionalEmail } from '../access/users/account.ts';

type Settings = Pick<GatewayConfig, 'INIT_ADMIN_EMAIL' | 'INIT_ADMIN_PASSWORD'>;

const notAccepted = (setting: keyof Settings, fault: string): Error =>
  new Error(`${setting} is not accepted: ${fault}`);

/**
 * The first administrator of the settings; undefined where they name none.
 * @throws Error when only one of the settings is present, the e-mail address is malformed, or the password is weak
 */
export const configuredAdmin = ({ INIT_ADMIN_EMAIL: email, INIT_ADMIN_PASSWORD: password }: Settings) => {
  if (email === undefined && password === undefined) return undefined;
  if (email === undefined || password === undefined)
    throw new Error('INIT_ADMIN_EMAIL and INIT_ADMIN_PASSWORD (or INIT_ADMIN_PASSWORD_FILE) are required together.');
  const [weakness] = passwordFaults(password);
  if (weakness !== undefined) throw notAccepted('INIT_ADMIN_PASSWORD', weakness);
  const names = { name: null, username: null, email: optionalEmail(email) };
  const fault = namesFault(names);
  if (fault !== undefined) throw notAccepted('INIT_ADMIN_EMAIL', `${fault.reason}.`);
  return { names, password };
};

export type ConfiguredAdmin = NonNullable<ReturnType<typeof configuredAdmin>>;
