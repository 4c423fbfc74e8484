import { implement } from '@bunting/bus';
import { GetOidcSettings } from '@bunting/contracts';
import { oidcSettingsResponse } from '../../access/oidc/oidc-settings.ts';
import type { GatewayContext } from '../../access/context.ts';

export const getOidcSettingsEndpoint = ({ signInSettings }: GatewayContext) =>
  implement(GetOidcSettings, async () => {
    const { isReadOnly } = signInSettings;
    return oidcSettingsResponse({ ...(await signInSettings.oidc()), isReadOnly });
  });
