import { type CreatedPat, type CreatePatBody, notFound, type Pats } from '@bunting/contracts';
import type { Occasion, WithSecret, Work } from '../../persistence/unit-of-work.ts';
import { noSuchUser } from '../users/change-account.ts';
import { noSuchPat } from './delete-pat.ts';
import { newPat, toldPat } from './add-pat.ts';

/** Whose keys an administrator looks after: people's, who need a first one, or those of machines, which have nobody else. */
type Accounts = 'users' | 'service-accounts';

type Asked = Occasion & { readonly params: { readonly id: number }; readonly body: CreatePatBody };

export const makeKeyOf = async (tx: Work, accounts: Accounts, request: Asked): Promise<WithSecret<CreatedPat>> => {
  const account = await tx.people.find(request.params.id, accounts);
  if (account === undefined) throw notFound(noSuchUser);
  return newPat(tx, request, account.id, request.body);
};

export const keysOf = async ({ people, tokens }: Work, accounts: Accounts, id: number): Promise<Pats> => {
  const account = await people.read(id, accounts);
  if (account === undefined) throw notFound(noSuchUser);
  return { pats: await tokens.pats(account.id) };
};

export const takeKeyOf = async (tx: Work, accounts: Accounts, id: number, tokenId: number): Promise<null> => {
  const account = await tx.people.find(id, accounts);
  if (account === undefined) throw notFound(noSuchUser);
  const pat = await tx.tokens.revokePat(account.id, tokenId);
  if (pat === undefined) throw notFound(noSuchPat);
  await tx.requireAdministratorLeft();
  tx.tell({ type: 'pat-deleted', preData: toldPat(pat) });
  return null;
};
