import { implement } from '@bunting/bus';
import { ListApiTokens } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { visibleTokens } from './visible-tokens.ts';

export const listApiTokensEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListApiTokens, (request) =>
    transaction(request, async (tx) => ({ tokens: await visibleTokens(tx, request.caller) })),
  );
