import { type Caller, may } from '@bunting/contracts';
import { textOf } from './json-members.ts';
import type { LoggedEvent } from './summary-parts.ts';

/** Which events somebody may see. */
export interface VisibleEvents {
  /** whether also those that belong to no project, which tell of people, keys and rights */
  readonly ofNoProject: boolean;
  /** projects that are not there for who asks, and neither is what happened in them */
  readonly hiddenProjects: readonly string[];
}

/** Which events the caller may see: administrators all of them, everybody else those of projects that are not hidden from them. */
export const visibleEvents = (caller: Caller): VisibleEvents => ({
  ofNoProject: may(caller, ['ADMIN'], { project: '', environment: '' }),
  hiddenProjects: caller.hiddenProjects ?? [],
});

/**
 * The event as somebody sees it to whom projects are hidden: the project that a flag was moved from is in the event of the one
 * that it is in now, and is left out where it is not there for who asks. The same event comes back when there is nothing to leave out.
 */
export const asSeen = (event: LoggedEvent, { hiddenProjects }: VisibleEvents): LoggedEvent =>
  event.type === 'feature-project-change' && hiddenProjects.includes(textOf(event.data, 'oldProject') ?? '')
    ? { ...event, data: { ...event.data, oldProject: null } }
    : event;
