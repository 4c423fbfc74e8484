import type { CountMembers, ReplyOf } from '@bunting/contracts';

/** How many members a project has and who owns it, which the gateway knows. */
export type ProjectMembers = ReplyOf<typeof CountMembers>['projects'][number];

/** SQL: joins what a parameter with `HeldProject`s as JSON says of the project `p`, as `held`. */
export const joinMembers = (parameter: string): string =>
  `left join json_to_recordset(${parameter}::json) as held (id text, members integer, added integer, owners json) on held.id = p.id`;

/** SQL: how many members `held` has. */
export const memberCount = 'coalesce(held.members, 0)';

/** SQL: who owns `held`. What nobody owns is the system's. */
export const owners = `case when json_array_length(held.owners) > 0 then held.owners else '[{"ownerType": "system"}]' end`;
