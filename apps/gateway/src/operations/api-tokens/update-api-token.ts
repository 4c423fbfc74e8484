import { implement } from '@bunting/bus';
import { UpdateApiToken } from '@bunting/contracts';
import { kindsFor } from '../../domain/api-token.ts';
import { requireToken } from './require-token.ts';
import { answered, tokenEvent } from './token-event.ts';
import { requireWithinLifetime } from './require-within-lifetime.ts';
import type { GatewayContext } from '../context.ts';

export const updateApiTokenEndpoint = ({ work }: GatewayContext) =>
  implement(UpdateApiToken, (request) =>
    work(request, async (tx) => {
      const { caller, params, body } = request;
      const token = await requireToken(tx, caller, params.token, kindsFor(caller, 'UPDATE'));
      if (token.type === 'admin') await requireWithinLifetime(tx, caller, new Date(body.expiresAt));
      const after = await tx.tokens.setExpiry(token.id, new Date(body.expiresAt));
      if (after.expiresAt === token.expiresAt) return null;
      await tx.requireAdministratorLeft();
      tx.tell(tokenEvent('api-token-updated', { data: answered(after), preData: answered(token) }));
      return null;
    }),
  );
