import { implement } from '@bunting/bus';
import { SetOidcSettings } from '@bunting/contracts';
import { mergeOidcSettings, requireCheckedProvider, oidcSettingsResponse } from '../../access/oidc/oidc-settings.ts';
import { oidcSettingsReadOnly } from '../../access/refusals.ts';
import { oidcSettingsOfRow } from '../../oidc/oidc-settings-sources.ts';
import { discoverProvider } from '../../access/oidc/openid-provider.ts';
import { oidcSettingEvents } from '../../access/sign-in/setting.ts';
import type { GatewayContext } from '../../access/context.ts';
import { requireRootRole } from '../users/require-root-role.ts';

export const setOidcSettingsEndpoint = ({ transaction, signInSettings }: GatewayContext) =>
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
  });
