import type { Project } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../components/content/badge.tsx';
import { collaborationModes } from './project-fields.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './projects.module.css';

/** The names or e-mail addresses of the owners of a project, separated by commas. */
export const ownerNamesOf = ({ owners = [] }: Project): string =>
  owners
    .filter(({ ownerType }) => ownerType !== 'system')
    .map(({ name, email }) => name ?? email ?? '')
    .join(', ');

/** A project in a list: a link to it, its mode unless that is open, and its description. */
export const ProjectCell = ({ project: { id, name, mode, description } }: { readonly project: Project }) => (
  <div>
    <span className={layout['inline']}>
      <Link to="/projects/$project" params={{ project: id }}>
        <bdi>{name}</bdi>
      </Link>
      {mode !== undefined && mode !== 'open' && (
        <Badge tone={mode === 'private' ? 'warning' : 'accent'}>{collaborationModes[mode][0]}</Badge>
      )}
    </span>
    {description != null && description !== '' && (
      <p className={styles['small']} dir="auto">
        {description}
      </p>
    )}
  </div>
);
