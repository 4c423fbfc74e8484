/**
 * SQL: a digest of ids and their versions, independent of their order. Producer and consumer of states each compute it in their own
 * database to detect drift.
 */
export const digestOfVersionsSql = (id: string, version: string): string =>
  `coalesce(sum(('x' || left(md5(${id} || ' ' || ${version}), 15))::bit(60)::bigint), 0)::text`;
