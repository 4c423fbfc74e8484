import { implement } from '@bunting/bus';
import { GetPasswordSettings } from '@bunting/contracts';
import type { GatewayContext } from '../../access/context.ts';

export const getPasswordSettingsEndpoint = ({ signInSettings }: GatewayContext) =>
  implement(GetPasswordSettings, async () => ({ disabled: await signInSettings.arePasswordsDisabled() }));
