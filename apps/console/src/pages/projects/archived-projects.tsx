import { ListProjects, ReviveProject } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { buttonClass } from '../../components/buttons/button.tsx';
import { Page } from '../../components/layout/page.tsx';
import { Catalogue } from '../../components/resources/catalogue.tsx';
import { Time } from '../../components/content/time.tsx';
import { ownerNamesOf, ProjectCell } from './project-cell.tsx';
import { ReviveProjectDialog } from './revive-project-dialog.tsx';

/** The archived projects that the user may see, each with a menu to revive it if the user may do so. */
export function ArchivedProjects() {
  const archived = useQuery({
    ...operationQuery(ListProjects, { query: { archived: true } }),
    select: ({ projects }) => projects,
  });
  const linkToActiveProjects = (
    <Link to="/projects" className={buttonClass()}>
      Show the active projects
    </Link>
  );
  return (
    <Page
      title="Archived projects"
      crumbs={[
        <Link key="all" to="/projects" activeOptions={{ exact: true }}>
          Projects
        </Link>,
      ]}
    >
      <Catalogue
        noun="project"
        label="Archived projects"
        query={archived}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={(project) => `${project.id} ${project.description ?? ''} ${ownerNamesOf(project)}`}
        columns={[
          { title: 'Name', cell: (project) => <ProjectCell project={project} /> },
          { title: 'Owners', cell: ownerNamesOf },
          { title: 'Archived', cell: ({ archivedAt }) => <Time at={archivedAt} /> },
        ]}
        actions={[
          {
            id: 'revive',
            label: 'Revive it',
            operation: ReviveProject,
            scopeOf: ({ id }) => ({ project: id }),
            dialog: ({ id }, onClose) => <ReviveProjectDialog id={id} onClose={onClose} />,
          },
        ]}
        empty={{
          title: 'No project is archived',
          help: 'A project without active flags can be archived in its settings. It is then listed here.',
          action: linkToActiveProjects,
        }}
      />
    </Page>
  );
}
