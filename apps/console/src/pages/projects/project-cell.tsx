import type { Project, ProjectOverview } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import layout from '../../components/layout/layout.module.css';
import { ProjectModeBadge } from './project-mode-badge.tsx';
import styles from './projects.module.css';

/** The names or e-mail addresses of the owners of a project, separated by commas. */
export function ownerNamesOf({ owners = [] }: Project): string {
  return owners
    .filter(({ ownerType }) => ownerType !== 'system')
    .map(({ name, email }) => name ?? email ?? '')
    .join(', ');
}

/** A project in a list: a link to it, its mode unless that is open, and its description. */
export function ProjectCell({ project: { id, name, mode, description } }: { readonly project: Project }) {
  return (
    <div>
      <span className={layout['inline']}>
        <Link to="/projects/$project" params={{ project: id }}>
          <bdi>{name}</bdi>
        </Link>
        <ProjectModeBadge mode={mode} />
      </span>
      {description != null && description !== '' && (
        <p className={styles['small']} dir="auto">
          {description}
        </p>
      )}
    </div>
  );
}

/** How many flags a project has that are not archived. */
export function flagCountOf({ featureTypeCounts }: Pick<ProjectOverview, 'featureTypeCounts'>): number {
  return featureTypeCounts.reduce((sum, { count }) => sum + count, 0);
}

interface ProjectHealthProps {
  readonly percent: number | undefined;
  readonly flagCount: number;
}

/** The share of flags that are not stale, as digits and as a bar. A project without flags has none. */
export function ProjectHealth({ percent, flagCount }: ProjectHealthProps) {
  if (flagCount === 0) return <span className={styles['small']}>no flags yet</span>;
  return percent === undefined ? null : (
    <span className={styles['health']} title="The share of flags that are not stale">
      <span className={styles['meter']} data-low={percent < 50 || undefined} aria-hidden="true">
        <span style={{ inlineSize: `${percent}%` }} />
      </span>
      {percent} %
    </span>
  );
}
