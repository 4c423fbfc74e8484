import { Fragment } from 'react';
import { useProjects } from '../../api/queries-and-mutations.ts';

/** A function that gives the name of a project; its id until the names are known, or where the user may not see it. */
export function useProjectNames(): (id: string) => string {
  const projects = useProjects().data?.projects;
  return (id) => projects?.find((project) => project.id === id)?.name ?? id;
}

/** The name of a project, as of `useProjectNames`. */
export function useProjectName(id: string | undefined): string | undefined {
  const nameOf = useProjectNames();
  return id === undefined ? undefined : nameOf(id);
}

/** A project by its name, with its id, by which filters and programs name it, on hover where that differs. */
export function ProjectName({ id }: { readonly id: string }) {
  const name = useProjectName(id);
  return <bdi {...(name !== id && { title: id })}>{name}</bdi>;
}

/** Projects by their names, or “all projects” for `*`. */
export function ProjectNames({ ids }: { readonly ids: readonly string[] }) {
  return ids.includes('*')
    ? 'all projects'
    : ids.map((id, nth) => (
        <Fragment key={id}>
          {nth > 0 && ', '}
          <ProjectName id={id} />
        </Fragment>
      ));
}
