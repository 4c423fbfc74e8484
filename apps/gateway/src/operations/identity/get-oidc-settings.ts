import { implement } from '@bunting/bus';
import { GetOidcSettings } from '@bunting/contracts';
import { shownOidc } from '../../domain/identity/oidc-settings.ts';
import type { GatewayContext } from '../context.ts';

export const getOidcSettingsEndpoint = ({ signInSettings }: GatewayContext) =>
  implement(GetOidcSettings, async () => {
    const { isReadOnly } = signInSettings;
    return shownOidc({ ...(await signInSettings.oidc()), isReadOnly });
  });
