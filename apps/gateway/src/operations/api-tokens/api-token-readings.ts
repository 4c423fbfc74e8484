import { implement } from '@bunting/bus';
import { GetApiTokensByName, ListApiTokens } from '@bunting/contracts';
import { kindsFor } from '../../domain/new-token.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { maySeeToken } from './found-token.ts';
import { answered } from './told-token.ts';

export const listApiTokensEndpoint = (work: UnitOfWork) =>
  implement(ListApiTokens, (asked) =>
    work(asked, async ({ tokens }) => {
      const found = await tokens.list(kindsFor(asked.caller, 'READ'));
      return { tokens: found.filter((token) => maySeeToken(asked.caller, token)).map(answered) };
    }),
  );

export const getApiTokensByNameEndpoint = (work: UnitOfWork) =>
  implement(GetApiTokensByName, (asked) =>
    work(asked, async ({ tokens }) => {
      const found = await tokens.list(kindsFor(asked.caller, 'READ'));
      const named = found.filter((token) => token.tokenName === asked.params.name && maySeeToken(asked.caller, token));
      return { tokens: named.map(answered) };
    }),
  );
