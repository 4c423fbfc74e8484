import type { Tx } from '@bunting/database';
import { FeatureFavoriteEntity } from '../entities.ts';
import { insertIfAbsent } from '../sql/insert-if-absent.ts';

/** The favourite features of users, within a transaction. */
export const featureFavoriteRepository = (tx: Tx) => ({
  /** Returns false if the feature is a favourite of the user already. */
  add: (feature: string, userId: number): Promise<boolean> =>
    insertIfAbsent(tx, FeatureFavoriteEntity, { feature, userId }),
  /** Returns false if the feature is not a favourite of the user. */
  remove: async (feature: string, userId: number): Promise<boolean> =>
    (await tx.em.nativeDelete(FeatureFavoriteEntity, { feature, userId })) > 0,
});
