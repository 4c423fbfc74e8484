import { type Caller, may } from '@bunting/contracts';

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
