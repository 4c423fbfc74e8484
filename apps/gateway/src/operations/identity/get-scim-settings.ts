import { implement } from '@bunting/bus';
import { GetScimSettings } from '@bunting/contracts';
import { isScimEnabled } from '../../access/scim/scim-setting.ts';
import type { GatewayContext } from '../../access/context.ts';

export const getScimSettingsEndpoint = ({ reads }: GatewayContext) =>
  implement(GetScimSettings, async () => {
    const stored = await reads.settings.find('scim');
    return { enabled: isScimEnabled(stored?.value), hasToken: stored?.secret != null };
  });
