import { refusal } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

/** @throws Refusal `InvalidOperationError` while administrators have turned passwords off in favour of single sign-on */
export const requirePasswordsEnabled = async ({
  signInSettings,
}: Pick<GatewayContext, 'signInSettings'>): Promise<void> => {
  if (await signInSettings.arePasswordsDisabled())
    throw refusal(
      'InvalidOperationError',
      'Passwords are turned off. Sign in with OpenID Connect at /auth/oidc/login.',
    );
};
