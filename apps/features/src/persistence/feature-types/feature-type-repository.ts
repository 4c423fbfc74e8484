import type { FeatureTypeDescription } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { FeatureTypeEntity, sql } from '../entities.ts';

const findForUpdate = `
  select ${sql.selectOf(FeatureTypeEntity, 'feature_type')} from feature_type where id = $1 for update`;

/** Feature types within a transaction. */
export const featureTypeRepository = (tx: Tx) => ({
  findForUpdate: async (id: string): Promise<FeatureTypeDescription | undefined> =>
    (await tx.query<FeatureTypeDescription>(findForUpdate, [id]))[0],

  /** Stores the lifetime; nothing else of a type changes. */
  save: async ({ id, lifetimeDays }: FeatureTypeDescription): Promise<void> => {
    await tx.em.nativeUpdate(FeatureTypeEntity, { id }, { lifetimeDays });
  },
});
