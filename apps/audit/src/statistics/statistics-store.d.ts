import type { GetProjectActivity, ReplyOf } from '@bunting/contracts';
import { type ReadDatabase } from '@bunting/database';
import type { EventVisibility } from '../search/event-filters.ts';
/** SQL: the statement part that counts the events of `arrived` by project and day, UTC. Events dropped for their age stay counted. */
export declare const recordActivitySql = "\n  insert into project_activity as stored (project, day, events, last_at)\n  select project, (\"createdAt\" at time zone 'UTC')::date, count(*), max(\"createdAt\") from arrived\n  where project is not null group by 1, 2\n  on conflict (project, day) do update\n    set events = stored.events + excluded.events, last_at = greatest(stored.last_at, excluded.last_at)";
export type ProjectActivity = ReplyOf<typeof GetProjectActivity>['projects'];
/** The activity of one project, or of all projects with events. @param days for how many of the last days each day is counted separately */
export declare const projectActivity: (database: ReadDatabase) => (project: string | undefined, days: number) => Promise<ProjectActivity>;
/** A user who caused events, with the name in the newest of them. */
export interface EventCreator {
    readonly id: number;
    readonly name: string;
}
/** The creators of the events that the caller may see, by name. */
export declare const eventCreators: (database: ReadDatabase) => (visible: EventVisibility) => Promise<EventCreator[]>;
