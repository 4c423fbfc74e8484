import { implement } from '@bunting/bus';
import { CreateScimToken } from '@bunting/contracts';
import { isScimEnabled, scimTokenCreated } from './scim-setting.ts';
import type { GatewayContext } from '../context.ts';

export const createScimTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateScimToken, async (request) => {
    const { secret } = await transaction.revealingSecret(request, async (tx) => {
      const stored = await tx.settings.findForUpdate('scim');
      const token = tx.newScimToken();
      const value = { enabled: isScimEnabled(stored?.value) };
      await tx.settings.save('scim', value, token.hash, [scimTokenCreated(stored?.value)]);
      return { reply: { secret: token.masked }, secret: token.secret };
    });
    return { token: secret };
  });
