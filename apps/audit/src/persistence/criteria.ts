import type { EventType } from '@bunting/contracts';
import type { VisibleEvents } from '../domain/visible-events.ts';

/** Which events are looked for; all that is given must hold. */
export interface Criteria {
  readonly type?: EventType | undefined;
  readonly project?: string | undefined;
  readonly feature?: string | undefined;
  readonly visible: VisibleEvents;
}

type Ask = 'project' | 'projects' | 'any-project' | 'type' | 'feature';

/** What criteria ask of columns. The values come first in a statement: `$1` is the first of them. */
export interface Columns {
  /** in the order of their conditions; equal asks make equal statements */
  readonly asks: readonly Ask[];
  readonly conditions: readonly string[];
  readonly values: readonly unknown[];
}

/** The projects that are left to look at; undefined where no single ones are meant. */
const projectsLeft = ({ project, visible }: Criteria): readonly string[] | undefined => {
  if (typeof visible === 'string') return project === undefined ? undefined : [project];
  if (project === undefined) return visible.projects;
  return visible.projects.includes(project) ? [project] : [];
};

export const columnsOf = (criteria: Criteria): Columns => {
  const asks: Ask[] = [];
  const conditions: string[] = [];
  const values: unknown[] = [];
  const ask = (name: Ask, condition: (place: string) => string, value: unknown): void => {
    asks.push(name);
    conditions.push(condition(`$${values.push(value)}`));
  };
  const projects = projectsLeft(criteria);
  if (projects?.length === 1) ask('project', (place) => `project = ${place}`, projects[0]);
  else if (projects !== undefined) ask('projects', (place) => `project = any(${place}::text[])`, projects);
  else if (criteria.visible === 'of-any-project') {
    asks.push('any-project');
    conditions.push('project is not null');
  }
  if (criteria.type !== undefined) ask('type', (place) => `type = ${place}`, criteria.type);
  if (criteria.feature !== undefined) ask('feature', (place) => `feature_name = ${place}`, criteria.feature);
  return { asks, conditions, values };
};
