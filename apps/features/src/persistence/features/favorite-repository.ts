import type { Tx } from '@bunting/database';
import { FeatureFavoriteEntity } from '../entities.ts';
import { insertIfAbsent } from '../insert-if-absent.ts';

/** The favourite features of users, within a unit of work. */
export const favoriteRepository = (tx: Tx) => ({
  /** Makes a feature a favourite of a user; says whether it was none before. */
  add: (feature: string, userId: number): Promise<boolean> =>
    insertIfAbsent(tx, FeatureFavoriteEntity, { feature, userId }),
  /** Makes it none any more; says whether it was one before. */
  remove: async (feature: string, userId: number): Promise<boolean> =>
    (await tx.em.nativeDelete(FeatureFavoriteEntity, { feature, userId })) > 0,
});
