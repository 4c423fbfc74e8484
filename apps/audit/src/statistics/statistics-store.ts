import { onlyRow, prepared, type ReadDatabase, timestampSql } from '@bunting/database';
import type { EventVisibility } from '../search/event-filters.ts';

/** SQL: the statement part that counts the events of `arrived` by project and day, UTC. Events dropped for their age stay counted. */
export const recordActivitySql = `
  insert into project_activity as stored (project, day, events, last_at)
  select project, ("createdAt" at time zone 'UTC')::date, count(*), max("createdAt") from arrived
  where project is not null group by 1, 2
  on conflict (project, day) do update
    set events = stored.events + excluded.events, last_at = greatest(stored.last_at, excluded.last_at)`;

const selectActivity = prepared(`
  with today as (select (now() at time zone 'UTC')::date as day)
  select json_build_object('projects', coalesce(json_agg(json_build_object(
    'id', stored.project, 'lastEventAt', ${timestampSql('last_at')}, 'currentWindow', counted."currentWindow",
    'pastWindow', counted."pastWindow", 'days', coalesce(counted.days, '[]')) order by stored.project), '[]'))::text as json
  from (select distinct project from project_activity where $1::text is null or project = $1) as stored
  cross join today
  cross join lateral (
    select last_at from project_activity where project = stored.project order by day desc limit 1) as latest
  cross join lateral (
    select coalesce(sum(events) filter (where a.day > today.day - 30), 0)::bigint as "currentWindow",
      coalesce(sum(events) filter (where a.day <= today.day - 30 and a.day > today.day - 60), 0)::bigint as "pastWindow",
      json_agg(json_build_object('date', a.day, 'count', events) order by a.day)
        filter (where a.day > today.day - $2::integer) as days
    from project_activity a
    where a.project = stored.project and a.day > today.day - greatest(60, $2::integer)) as counted`);

/** The JSON of the reply with the activity of one project, or of all projects with events. @param days for how many of the last days each day is counted separately */
export function projectActivity(database: ReadDatabase) {
  return async (project: string | undefined, days: number): Promise<string> => {
    const rows = await database.read<{ json: string }>(selectActivity, [project ?? null, days]);
    return onlyRow(rows, 'project activity').json;
  };
}

/** A user who caused events, with the name in the newest of them. */
export interface EventCreator {
  readonly id: number;
  readonly name: string;
}

const selectCreators = prepared(`
  select id, name from (
    select distinct on (creator.id) creator.id, creator.name from event_creator as creator
    where last_event > (select dropped_id from event_log_head)
      and ($1::boolean or project is not null) and (project is null or project <> all($2::text[]))
    order by creator.id, last_event desc) as latest
  order by lower(name), id`);

/** The creators of the events that the caller may see, by name. */
export function eventCreators(database: ReadDatabase) {
  return (visible: EventVisibility): Promise<EventCreator[]> =>
    database.read<EventCreator>(selectCreators, [visible.ofNoProject, visible.hiddenProjects]);
}
