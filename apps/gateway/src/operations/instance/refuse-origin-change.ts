import { implement } from '@bunting/bus';
import { RefuseOriginChange } from '@bunting/contracts';
import { requireConfiguredOrigins } from '../../domain/require-configured-origins.ts';
import type { GatewayContext } from '../../access/context.ts';

export const refuseOriginChangeEndpoint = ({ instance }: GatewayContext) =>
  implement(RefuseOriginChange, async ({ body }) => {
    requireConfiguredOrigins(body.frontendSettings?.frontendApiOrigins, instance.frontendOrigins);
    return null;
  });
