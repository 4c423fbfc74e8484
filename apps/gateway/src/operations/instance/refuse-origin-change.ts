import { implement } from '@bunting/bus';
import { refusal, RefuseOriginChange } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

const canonicalJson = (origins: readonly string[]): string => JSON.stringify([...new Set(origins)].toSorted());

export const refuseOriginChangeEndpoint = ({ instance }: GatewayContext) =>
  implement(RefuseOriginChange, async ({ body }) => {
    const wanted = body.frontendSettings?.frontendApiOrigins;
    if (wanted === undefined || canonicalJson(wanted) === canonicalJson(instance.frontendOrigins)) return null;
    throw refusal(
      'InvalidOperationError',
      'The origins of pages are the setting GATEWAY_FRONTEND_CORS_ORIGINS: change it there, and restart the gateway.',
    );
  });
