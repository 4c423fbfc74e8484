import type { Tx } from '@bunting/database';

/** Which features users like, within a unit of work. */
export interface FavoriteRepository {
  /** Makes a feature a favourite of a user; says whether it was none before. */
  add(feature: string, userId: number): Promise<boolean>;
  /** Makes it none any more; says whether it was one before. */
  remove(feature: string, userId: number): Promise<boolean>;
}

const add = 'insert into feature_favorite (feature, user_id) values ($1, $2) on conflict do nothing returning feature';
const remove = 'delete from feature_favorite where feature = $1 and user_id = $2 returning feature';

export const favoriteRepository = ({ query }: Tx): FavoriteRepository => ({
  add: async (feature, userId) => (await query(add, [feature, userId])).length > 0,
  remove: async (feature, userId) => (await query(remove, [feature, userId])).length > 0,
});
