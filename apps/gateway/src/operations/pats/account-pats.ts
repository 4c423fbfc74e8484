import { type CreatedPat, type CreatePatBody, type Pats } from '@bunting/contracts';
import { patDeleted } from '../../domain/tokens/pats.ts';
import { patNotFound, userNotFound } from '../../domain/refusals.ts';
import type { GatewayReads } from '../../persistence/reads.ts';
import type { GatewayWriteContext, ReplyWithSecret, Transaction } from '../../persistence/unit-of-work.ts';
import { addPat } from './add-pat.ts';

/** The accounts whose PATs administrators manage. */
type Accounts = 'users' | 'service-accounts';

type CreateAccountPatRequest = GatewayWriteContext & {
  readonly params: { readonly id: number };
  readonly body: CreatePatBody;
};

export const createAccountPat = async (
  tx: Transaction,
  accounts: Accounts,
  request: CreateAccountPatRequest,
): Promise<ReplyWithSecret<CreatedPat>> => {
  const account = await tx.users.findForUpdate(request.params.id, { only: accounts });
  if (account === undefined) throw userNotFound();
  return addPat(tx, request, account.id, request.body);
};

export const listAccountPats = async (
  { users, tokens }: GatewayReads,
  accounts: Accounts,
  id: number,
): Promise<Pats> => {
  const account = await users.find(id, { only: accounts });
  if (account === undefined) throw userNotFound();
  return { pats: await tokens.listPats(account.id) };
};

export const deleteAccountPat = async (
  tx: Transaction,
  accounts: Accounts,
  id: number,
  tokenId: number,
): Promise<null> => {
  const account = await tx.users.findForUpdate(id, { only: accounts });
  if (account === undefined) throw userNotFound();
  const pat = await tx.tokens.revokePat(account.id, tokenId);
  if (pat === undefined) throw patNotFound();
  tx.events.emit([patDeleted(pat)]);
  return null;
};
