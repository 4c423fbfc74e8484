import { implement } from '@bunting/bus';
import { CreateScimToken } from '@bunting/contracts';
import { settingEvent } from '../../domain/settings.ts';
import type { GatewayContext } from '../context.ts';

export const createScimTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateScimToken, async (request) => {
    const { secret } = await transaction.revealingSecret(request, async (tx) => {
      const stored = await tx.settings.findForUpdate<{ readonly enabled: boolean }>('scim');
      const enabled = stored?.value.enabled ?? false;
      const token = tx.newScimToken();
      await tx.settings.save('scim', { enabled }, token.hash);
      tx.events.emit([
        settingEvent('scim', { enabled, hasNewToken: true }, stored === undefined ? undefined : { enabled }),
      ]);
      return { reply: { secret: token.masked }, secret: token.secret };
    });
    return { token: secret };
  });
