import { implement } from '@bunting/bus';
import { CreateScimToken } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';

export const createScimTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateScimToken, async (request) => {
    const { secret } = await transaction.revealingSecret(request, async (tx) => {
      const stored = await tx.settings.findForUpdate<{ readonly enabled: boolean }>('scim');
      const enabled = stored?.value.enabled ?? false;
      const token = tx.newScimToken();
      await tx.settings.save('scim', { enabled }, token.hash);
      tx.emit({
        type: stored === undefined ? 'setting-created' : 'setting-updated',
        data: { id: 'scim', enabled, hasNewToken: true },
        preData: stored === undefined ? null : { id: 'scim', enabled },
      });
      return { reply: { secret: token.masked }, secret: token.secret };
    });
    return { token: secret };
  });
