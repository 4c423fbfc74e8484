import { implement } from '@bunting/bus';
import { GetScimSettings } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const getScimSettingsEndpoint = ({ reads }: GatewayContext) =>
  implement(GetScimSettings, async () => {
    const stored = await reads.settings.find<{ readonly enabled: boolean }>('scim');
    return { enabled: stored?.value.enabled ?? false, hasToken: stored?.secret != null };
  });
