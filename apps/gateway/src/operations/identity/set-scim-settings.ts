import { implement } from '@bunting/bus';
import { type SavedScimSettings, SetScimSettings } from '@bunting/contracts';
import { settingEvent } from '../../domain/settings.ts';
import type { GatewayContext } from '../context.ts';

export const setScimSettingsEndpoint = ({ transaction }: GatewayContext) =>
  implement(SetScimSettings, async (request): Promise<SavedScimSettings> => {
    const { enabled } = request.body;
    const { secret, isNew, ...saved } = await transaction.revealingSecret(request, async (tx) => {
      const stored = await tx.settings.findForUpdate<{ readonly enabled: boolean }>('scim');
      const before = stored?.value.enabled ?? false;
      const isNew = enabled && stored?.secret == null;
      const token = isNew ? tx.newScimToken() : undefined;
      if (before !== enabled || isNew) {
        await tx.settings.save('scim', { enabled }, token?.hash ?? stored?.secret ?? null);
        tx.events.emit([settingEvent('scim', { enabled }, stored === undefined ? undefined : { enabled: before })]);
      }
      const hasToken = token !== undefined || stored?.secret != null;
      return { reply: { enabled, hasToken, isNew, secret: token?.masked ?? '' }, secret: token?.secret ?? '' };
    });
    return isNew ? { ...saved, token: secret } : saved;
  });
