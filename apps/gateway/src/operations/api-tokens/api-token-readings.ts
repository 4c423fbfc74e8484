import { implement } from '@bunting/bus';
import { type ApiToken, type Caller, GetApiTokensByName, ListApiTokens } from '@bunting/contracts';
import { kindsFor } from '../../domain/new-token.ts';
import type { UnitOfWork, Work } from '../../persistence/unit-of-work.ts';
import { maySeeToken } from './found-token.ts';
import { listed } from './told-token.ts';

/** The tokens that the caller may read. */
const readableTokens = async ({ tokens }: Pick<Work, 'tokens'>, caller: Caller): Promise<ApiToken[]> => {
  const found = await tokens.list(kindsFor(caller, 'READ'));
  const creatable = kindsFor(caller, 'CREATE');
  return found
    .filter((token) => maySeeToken(caller, token))
    .map((token) => listed(token, creatable.includes(token.type)));
};

export const listApiTokensEndpoint = (work: UnitOfWork) =>
  implement(ListApiTokens, (asked) => work(asked, async (tx) => ({ tokens: await readableTokens(tx, asked.caller) })));

export const getApiTokensByNameEndpoint = (work: UnitOfWork) =>
  implement(GetApiTokensByName, (asked) =>
    work(asked, async (tx) => {
      const tokens = await readableTokens(tx, asked.caller);
      return { tokens: tokens.filter(({ tokenName }) => tokenName === asked.params.name) };
    }),
  );
