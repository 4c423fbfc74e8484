import { implement } from '@bunting/bus';
import { type SavedScimSettings, SetScimSettings } from '@bunting/contracts';
import { switchScim } from '../../access/scim/scim-setting.ts';
import type { GatewayContext } from '../../access/context.ts';

export const setScimSettingsEndpoint = ({ transaction }: GatewayContext) =>
  implement(SetScimSettings, async (request): Promise<SavedScimSettings> => {
    const { enabled } = request.body;
    const { secret, isNew, ...saved } = await transaction.revealingSecret(request, async (tx) => {
      const stored = await tx.settings.findForUpdate('scim');
      const hadToken = stored?.secret != null;
      const { needsToken: isNew, events } = switchScim(stored && { ...stored.value, hasToken: hadToken }, enabled);
      const token = isNew ? tx.newScimToken() : undefined;
      const hash = token?.hash ?? stored?.secret ?? null;
      if (events.length > 0) await tx.settings.save('scim', { enabled }, hash, events);
      const hasToken = isNew || hadToken;
      return { reply: { enabled, hasToken, isNew, secret: token?.masked ?? '' }, secret: token?.secret ?? '' };
    });
    return isNew ? { ...saved, token: secret } : saved;
  });
