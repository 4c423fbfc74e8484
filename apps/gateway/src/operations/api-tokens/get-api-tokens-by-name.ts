import { implement } from '@bunting/bus';
import { GetApiTokensByName } from '@bunting/contracts';
import type { GatewayContext } from '../context.ts';
import { readableTokens } from './readable-tokens.ts';

export const getApiTokensByNameEndpoint = ({ transaction }: GatewayContext) =>
  implement(GetApiTokensByName, (request) =>
    transaction(request, async (tx) => {
      const tokens = await readableTokens(tx, request.caller);
      return { tokens: tokens.filter(({ tokenName }) => tokenName === request.params.name) };
    }),
  );
