import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useProjects } from '../../api/queries-and-mutations.ts';
import styles from './projects.module.css';

/** The tabs of a project in their order. Flags, cleanup and events are pages of their own, which have the bar as well. */
export const projectTabNames = {
  overview: 'Overview',
  flags: 'Flags',
  environments: 'Environments',
  access: 'Access',
  tokens: 'API tokens',
  applications: 'Applications',
  segments: 'Segments',
  actions: 'Actions',
  archive: 'Archive',
  settings: 'Settings',
  cleanup: 'Cleanup',
  events: 'Events',
} as const;

interface ProjectTabsProps {
  readonly project: string;
  readonly tab: string | undefined;
}

/** The bar that leads to the parts of a project, on each of its pages. */
export function ProjectTabs({ project, tab: currentTab }: ProjectTabsProps) {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    bar.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [currentTab]);
  return (
    <nav ref={bar} aria-label="The project" className={styles['tabs']}>
      <ul>
        {Object.entries(projectTabNames).map(([tab, name]) => (
          <li key={tab}>
            {tab === 'overview' ? (
              <Link to="/projects/$project" params={{ project }} activeOptions={{ exact: true }}>
                {name}
              </Link>
            ) : (
              <Link to="/projects/$project/$tab" params={{ project, tab }}>
                {name}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The name of a project; its id until it is known, or where the user may not see it. */
export function useProjectName(id: string | undefined): string | undefined {
  const { data } = useProjects();
  return data?.projects.find((project) => project.id === id)?.name ?? id;
}
