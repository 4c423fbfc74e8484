import { implement } from '@bunting/bus';
import { GetScimSettings } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const getScimSettingsEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetScimSettings, (request) =>
    transaction(request, async ({ settings }) => {
      const stored = await settings.find<{ readonly enabled: boolean }>('scim');
      return { enabled: stored?.value.enabled ?? false, hasToken: stored?.secret != null };
    }),
  );
