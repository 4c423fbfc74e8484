import { implement } from '@bunting/bus';
import { CreateServiceAccountToken, DeleteServiceAccountToken, notFound } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { noSuchPat } from '../pats/delete-pat.ts';
import { newPat, toldPat } from '../pats/new-pat.ts';
import { requireServiceAccount } from './service-account.ts';

export const createServiceAccountTokenEndpoint = (work: UnitOfWork) =>
  implement(CreateServiceAccountToken, (asked) =>
    work.revealing(asked, async (tx) => {
      const { id } = await requireServiceAccount(tx, asked.params.id);
      return newPat(tx, asked, id, asked.body);
    }),
  );

export const deleteServiceAccountTokenEndpoint = (work: UnitOfWork) =>
  implement(DeleteServiceAccountToken, (asked) =>
    work(asked, async (tx) => {
      const { id } = await requireServiceAccount(tx, asked.params.id);
      const pat = await tx.tokens.revokePat(id, asked.params.tokenId);
      if (pat === undefined) throw notFound(noSuchPat);
      await tx.requireAdministratorLeft();
      tx.tell({ type: 'pat-deleted', preData: toldPat(pat) });
      return null;
    }),
  );
