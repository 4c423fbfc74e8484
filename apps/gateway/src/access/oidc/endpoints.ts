import { type Endpoint, implement } from '@bunting/bus';
import {
  DiscoverOidcProvider,
  GetOidcSettings,
  GetPasswordSettings,
  SetOidcSettings,
  SetPasswordSettings,
} from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { oidcSettingsReadOnly } from '../refusals.ts';
import { oidcSettingEvents, passwordSettingEvents } from '../sign-in/setting.ts';
import { oidcSettingsOfRow } from '../sign-in/sign-in-settings.ts';
import { requireRootRole } from '../users/endpoints.ts';
import {
  mergeOidcSettings,
  oidcSettingsResponse,
  requireCheckedProvider,
  requireOidcToDisablePasswords,
} from './oidc-settings.ts';
import { discoverProvider } from './openid-provider.ts';

export function oidcEndpoints({ signInSettings, transaction }: GatewayContext): readonly Endpoint[] {
  return [
    implement(DiscoverOidcProvider, async ({ body }) =>
      discoverProvider(mergeOidcSettings(await signInSettings.oidc(), body)),
    ),
    implement(GetOidcSettings, async () => {
      const { isReadOnly } = signInSettings;
      return oidcSettingsResponse({ ...(await signInSettings.oidc()), isReadOnly });
    }),
    implement(SetOidcSettings, async (request) => {
      if (signInSettings.isReadOnly) throw oidcSettingsReadOnly();
      const checked = mergeOidcSettings(await signInSettings.oidc(), request.body);
      if (checked.enabled) await discoverProvider(checked);
      return transaction(request, async (tx) => {
        const stored = await tx.settings.findForUpdate('oidc');
        const before = oidcSettingsOfRow(stored, signInSettings.secretCipher);
        const after = mergeOidcSettings(before, request.body);
        requireCheckedProvider(checked, after);
        // A role that was deleted since must not keep the sign-in from being turned off.
        if (after.defaultRootRoleId !== null && (after.enabled || request.body.defaultRootRoleId !== undefined))
          await requireRootRole(tx, after.defaultRootRoleId, '/body/defaultRootRoleId');
        const { secret, ...values } = after;
        const sealed = secret === undefined ? null : signInSettings.secretCipher.seal(secret);
        const events = oidcSettingEvents(before, after, { wasStored: stored !== undefined });
        await tx.settings.save('oidc', values, sealed, events);
        return oidcSettingsResponse({ ...after, isReadOnly: false });
      });
    }),
    implement(GetPasswordSettings, async () => ({ disabled: await signInSettings.arePasswordsDisabled() })),
    implement(SetPasswordSettings, async (request) => {
      const { disabled } = request.body;
      if (disabled) requireOidcToDisablePasswords(await signInSettings.oidc());
      return transaction(request, async (tx) => {
        const stored = await tx.settings.findForUpdate('simple');
        const events = passwordSettingEvents(stored?.value, { disabled });
        if (events.length > 0) await tx.settings.save('simple', { disabled }, null, events);
        return { disabled };
      });
    }),
  ];
}
