import { implement } from '@bunting/bus';
import { GetSimpleSettings } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const getSimpleSettingsEndpoint = ({ signInSettings }: GatewayContext) =>
  implement(GetSimpleSettings, async () => ({ disabled: await signInSettings.arePasswordsDisabled() }));
