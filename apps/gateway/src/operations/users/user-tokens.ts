import { implement } from '@bunting/bus';
import { CreateUserToken, DeleteUserToken, ListUserTokens } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { keysOf, makeKeyOf, takeKeyOf } from '../pats/account-keys.ts';

export const listUserTokensEndpoint = (work: UnitOfWork) =>
  implement(ListUserTokens, (asked) => work(asked, (tx) => keysOf(tx, 'users', asked.params.id)));

export const createUserTokenEndpoint = (work: UnitOfWork) =>
  implement(CreateUserToken, (asked) => work.revealing(asked, (tx) => makeKeyOf(tx, 'users', asked)));

export const deleteUserTokenEndpoint = (work: UnitOfWork) =>
  implement(DeleteUserToken, (asked) =>
    work(asked, (tx) => takeKeyOf(tx, 'users', asked.params.id, asked.params.tokenId)),
  );
