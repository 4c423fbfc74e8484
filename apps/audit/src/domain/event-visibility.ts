import { type Caller, isAdministrator } from '@bunting/contracts';
import { memberText } from './json-members.ts';
import type { LoggedEvent } from './summary-parts.ts';

/** Which events a caller may see. */
export interface EventVisibility {
  /** whether to include events of no project, which concern users, tokens and permissions */
  readonly ofNoProject: boolean;
  /** projects whose events are hidden from the caller */
  readonly hiddenProjects: readonly string[];
}

/** Administrators see all events, other callers those of projects that are not hidden from them. */
export const eventVisibilityOf = (caller: Caller): EventVisibility => ({
  ofNoProject: isAdministrator(caller),
  hiddenProjects: caller.hiddenProjects ?? [],
});

/**
 * The event without the parts about a hidden project. The event of a moved flag names its old project, and the `preData` of a moved segment
 * is of its old project. Returns the same object if there is nothing to remove.
 */
export const withoutHiddenProject = (event: LoggedEvent, { hiddenProjects }: EventVisibility): LoggedEvent => {
  const isHidden = (project: string | undefined): boolean => project !== undefined && hiddenProjects.includes(project);
  if (event.type === 'feature-project-change' && isHidden(memberText(event.data, 'oldProject')))
    return { ...event, data: { ...event.data, oldProject: null } };
  return isHidden(memberText(event.preData, 'project')) ? { ...event, preData: null } : event;
};
