import { implement } from '@bunting/bus';
import { CreateServiceAccountToken, DeleteServiceAccountToken, ListServiceAccountTokens } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { keysOf, makeKeyOf, takeKeyOf } from '../pats/account-keys.ts';

export const listServiceAccountTokensEndpoint = (work: UnitOfWork) =>
  implement(ListServiceAccountTokens, (asked) => work(asked, (tx) => keysOf(tx, 'service-accounts', asked.params.id)));

export const createServiceAccountTokenEndpoint = (work: UnitOfWork) =>
  implement(CreateServiceAccountToken, (asked) =>
    work.revealing(asked, (tx) => makeKeyOf(tx, 'service-accounts', asked)),
  );

export const deleteServiceAccountTokenEndpoint = (work: UnitOfWork) =>
  implement(DeleteServiceAccountToken, (asked) =>
    work(asked, (tx) => takeKeyOf(tx, 'service-accounts', asked.params.id, asked.params.tokenId)),
  );
