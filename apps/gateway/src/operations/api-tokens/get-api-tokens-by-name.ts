import { implement } from '@bunting/bus';
import { GetApiTokensByName } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { visibleTokens } from './visible-tokens.ts';

export const getApiTokensByNameEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetApiTokensByName, (request) =>
    transaction(request, async (tx) => {
      const tokens = await visibleTokens(tx, request.caller);
      return { tokens: tokens.filter(({ tokenName }) => tokenName === request.params.name) };
    }),
  );
