import { type Endpoint, implement } from '@bunting/bus';
import { CreateScimToken, GetScimSettings, type SavedScimSettings, SetScimSettings } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { isScimEnabled, scimTokenCreated, switchScim } from './scim-setting.ts';

export function scimEndpoints({ transaction, reads }: GatewayContext): readonly Endpoint[] {
  return [
    implement(CreateScimToken, async (request) => {
      const { secret } = await transaction.revealingSecret(request, async (tx) => {
        const stored = await tx.settings.findForUpdate('scim');
        const token = tx.newScimToken();
        const value = { enabled: isScimEnabled(stored?.value) };
        await tx.settings.save('scim', value, token.hash, [scimTokenCreated(stored?.value)]);
        return { reply: { secret: token.masked }, secret: token.secret };
      });
      return { token: secret };
    }),
    implement(GetScimSettings, async () => {
      const stored = await reads.settings.find('scim');
      return { enabled: isScimEnabled(stored?.value), hasToken: stored?.secret != null };
    }),
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
    }),
  ];
}
