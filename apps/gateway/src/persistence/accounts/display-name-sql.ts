/** SQL: what `displayNameOf` returns for a row, but null without any name. @param alias the alias of its table, with a dot */
export const displayNameSql = (alias = ''): string => `coalesce(${alias}name, ${alias}username, ${alias}email)`;
