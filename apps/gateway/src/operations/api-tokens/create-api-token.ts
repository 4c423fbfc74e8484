import { implement } from '@bunting/bus';
import { CreateApiToken } from '@bunting/contracts';
import { newToken, projectsOf, requireMayCreate } from '../../domain/api-token.ts';
import { makeToken } from './add-token.ts';
import { requireWithinLifetime } from './require-within-lifetime.ts';
import type { GatewayContext } from '../context.ts';

export const createApiTokenEndpoint = ({ work, places }: GatewayContext) =>
  implement(CreateApiToken, async (request) => {
    const { caller, body, now } = request;
    const known = await places.all(request);
    const token = newToken(body, caller, known, now);
    requireMayCreate(caller, token.kind);
    await places.requireHeardOf(projectsOf(token));
    return work.revealing(request, async (tx) => {
      if (token.kind === 'admin') await requireWithinLifetime(tx, caller, token.expiresAt);
      return makeToken(tx, token, caller.id);
    });
  });
