import { implement } from '@bunting/bus';
import { SetPasswordSettings } from '@bunting/contracts';
import { requireOidcToDisablePasswords } from '../../access/oidc/oidc-settings.ts';
import { passwordSettingEvents } from '../../access/sign-in/setting.ts';
import type { GatewayContext } from '../../access/context.ts';

export const setPasswordSettingsEndpoint = ({ transaction, signInSettings }: GatewayContext) =>
  implement(SetPasswordSettings, async (request) => {
    const { disabled } = request.body;
    if (disabled) requireOidcToDisablePasswords(await signInSettings.oidc());
    return transaction(request, async (tx) => {
      const stored = await tx.settings.findForUpdate('simple');
      const events = passwordSettingEvents(stored?.value, { disabled });
      if (events.length > 0) await tx.settings.save('simple', { disabled }, null, events);
      return { disabled };
    });
  });
