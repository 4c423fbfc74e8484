import { implement } from '@bunting/bus';
import { GetScimSettings } from '@bunting/contracts';
import { isScimEnabled } from '../../domain/scim/scim-setting.ts';
import type { GatewayContext } from '../context.ts';

export const getScimSettingsEndpoint = ({ reads }: GatewayContext) =>
  implement(GetScimSettings, async () => {
    const stored = await reads.settings.find('scim');
    return { enabled: isScimEnabled(stored?.value), hasToken: stored?.secret != null };
  });
