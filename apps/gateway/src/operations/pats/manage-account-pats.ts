import { type CreatedPat, type CreatePatBody, type Pats } from '@bunting/contracts';
import { patDeleted } from '../../access/pats/pat.ts';
import type { AccountCollection } from '../../access/users/user-store.ts';
import type { GatewayReads } from '../../unit-of-work/reads.ts';
import type { GatewayWriteContext, ReplyWithSecret, Transaction } from '../../unit-of-work/unit-of-work.ts';
import { addPat } from '../../access/pats/endpoints.ts';

type CreateAccountPatRequest = GatewayWriteContext & {
  readonly params: { readonly id: number };
  readonly body: CreatePatBody;
};

export const createAccountPat = async (
  tx: Transaction,
  accounts: AccountCollection,
  request: CreateAccountPatRequest,
): Promise<ReplyWithSecret<CreatedPat>> => {
  const account = await tx.users.getForUpdate(request.params.id, { only: accounts });
  return addPat(tx, request, account.id, request.body);
};

export const listAccountPats = async (
  { users, tokens }: GatewayReads,
  accounts: AccountCollection,
  id: number,
): Promise<Pats> => {
  const account = await users.get(id, { only: accounts });
  return { pats: await tokens.listPats(account.id) };
};

export const deleteAccountPat = async (
  tx: Transaction,
  accounts: AccountCollection,
  id: number,
  tokenId: number,
): Promise<null> => {
  const account = await tx.users.getForUpdate(id, { only: accounts });
  await tx.tokens.revokePat(account.id, tokenId, (pat) => [patDeleted(pat)]);
  return null;
};
