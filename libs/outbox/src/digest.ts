/**
 * SQL: sums up ids and their versions, the same for the same ones in whatever order. Who tells states and who keeps them
 * compare what it gives, each in a database of its own.
 */
export const digestOfVersions = (id: string, version: string): string =>
  `coalesce(sum(('x' || left(md5(${id} || ' ' || ${version}), 15))::bit(60)::bigint), 0)::text`;
