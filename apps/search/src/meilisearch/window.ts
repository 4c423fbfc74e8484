/** A page as Meilisearch counts them, and what of its hits is wanted. */
export interface Window {
  readonly page: number;
  readonly hitsPerPage: number;
  /** how many of its hits come before the wanted ones */
  readonly skip: number;
}

/**
 * The page that holds `limit` hits from `offset` on. Only pages come with an exact total, and they begin at multiples of their
 * size: one is looked for that is hardly larger than what is wanted.
 */
export const windowOf = (offset: number, limit: number): Window => {
  if (limit === 0) return { page: 1, hitsPerPage: 0, skip: 0 };
  const last = offset + limit - 1;
  let hitsPerPage = limit;
  while (Math.floor(offset / hitsPerPage) !== Math.floor(last / hitsPerPage)) hitsPerPage++;
  const before = Math.floor(offset / hitsPerPage);
  return { page: before + 1, hitsPerPage, skip: offset - before * hitsPerPage };
};
