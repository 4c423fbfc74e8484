import type { Statement } from '@bunting/database';
import { openStates } from './migrations/tables.ts';

const moment = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const person = (row: string): string => `json_build_object('id', ${row}.created_by_id, 'name', ${row}.created_by_name)`;

/** All rows of a table that belong to the request, as a JSON array. */
const partsOf = (table: string, members: string, order: string): string => `coalesce((
  select json_agg(json_build_object(${members}, 'createdBy', ${person(table)}, 'createdAt', ${moment(`${table}.created_at`)}) order by ${order})
  from ${table} where ${table}.change_request_id = request.id), '[]')`;

const verdictsOf = (table: string): string => `coalesce((
  select json_agg(json_build_object('createdBy', ${person(table)}, 'createdAt', ${moment(`${table}.created_at`)})
    order by ${table}.created_at, ${table}.created_by_id)
  from ${table} where ${table}.change_request_id = request.id), '[]')`;

const segment = `case when change.segment_id is not null
  then json_build_object('id', change.segment_id, 'name', change.segment_name) end`;

/** Whole requests, one a row, in the shape that the domain knows. */
const requests = `
  select json_build_object(
    'id', request.id, 'project', request.project, 'environment', request.environment, 'title', request.title,
    'state', request.state, 'minApprovals', request.min_approvals, 'createdBy', ${person('request')},
    'createdAt', ${moment('request.created_at')}, 'revision', request.revision, 'stateTimestamps', request.state_timestamps,
    'changes', ${partsOf(
      'change',
      `'id', change.id, 'position', change.position, 'action', change.action, 'feature', change.feature,
       'segment', ${segment}, 'payload', change.payload, 'snapshot', change.snapshot`,
      'change.position',
    )},
    'approvals', ${verdictsOf('approval')},
    'rejections', ${verdictsOf('rejection')},
    'comments', ${partsOf('comment', `'id', comment.id, 'text', comment.text`, 'comment.id')}
  ) as request
  from change_request request`;

export const requestById = `${requests} where request.id = $1`;

/** The one request of a user that takes changes in a project and environment. */
export const openRequest: Statement = {
  name: 'open-change-request',
  text: `${requests}
    where request.created_by_id = $1 and request.project = $2 and request.environment = $3 and request.state in ${openStates}`,
};

/** Those that take changes, of one user in one project. */
export const openRequests: Statement = {
  name: 'open-change-requests',
  text: `${requests}
    where request.created_by_id = $1 and request.project = $2 and request.state in ${openStates}
    order by request.environment collate "C", request.id`,
};
