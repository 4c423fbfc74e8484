import type { CountProjectMembers, ReplyOf } from '@bunting/contracts';

/** How many members a project has and who owns it, from the gateway. */
export type ProjectMembers = ReplyOf<typeof CountProjectMembers>['projects'][number];

/** SQL: joins a parameter with `ProjectMembers` as JSON to the project `p`, as `membership`. */
export const joinMembers = (parameter: string): string =>
  `left join json_to_recordset(${parameter}::json) as membership (id text, members integer, added integer, owners json) on membership.id = p.id`;

/** SQL: the number of members; needs `joinMembers`. */
export const memberCountSql = 'coalesce(membership.members, 0)';

/** SQL: the owners, or the system for a project without any; needs `joinMembers`. */
export const ownersSql = `case when json_array_length(membership.owners) > 0 then membership.owners else '[{"ownerType": "system"}]' end`;
