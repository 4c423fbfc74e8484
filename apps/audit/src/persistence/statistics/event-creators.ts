import type { ReadDatabase, Statement } from '@bunting/database';
import type { EventVisibility } from '../../domain/event-visibility.ts';

/** A user who caused events, with the name in the newest of them. */
export interface EventCreator {
  readonly id: number;
  readonly name: string;
}

const selectCreators: Statement = {
  name: 'event-creators',
  text: `
    select id, name from (
      select distinct on (creator.id) creator.id, creator.name from event_creator as creator
      where last_event > (select dropped_id from event_log_head)
        and ($1::boolean or project is not null) and (project is null or project <> all($2::text[]))
      order by creator.id, last_event desc) as latest
    order by lower(name), id`,
};

/** The creators of the events that the caller may see, by name. */
export const eventCreators =
  (database: ReadDatabase) =>
  (visible: EventVisibility): Promise<EventCreator[]> =>
    database.read<EventCreator>(selectCreators, [visible.ofNoProject, visible.hiddenProjects]);
