import { ListProjects, ReviveProject } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { buttonClass } from '../../components/buttons/button.tsx';
import { useMayCall } from '../../api/use-may-call.ts';
import { Page } from '../../components/layout/page.tsx';
import { ResourceList } from '../../components/resources/resource-list.tsx';
import { Time } from '../../components/content/time.tsx';
import { projectsMessages as text } from '../../messages/projects.ts';
import { ownerNamesOf, ProjectCell } from './project-cell.tsx';
import { ReviveProjectDialog } from './revive-project-dialog.tsx';

/** The archived projects that the user may see, each with a menu to revive it if the user may do so. */
export const ArchivedProjects = () => {
  const archived = useQuery({
    ...operationQuery(ListProjects, { query: { archived: true } }),
    select: ({ projects }) => projects,
  });
  const mayCall = useMayCall();
  const [projectToRevive, setProjectToRevive] = useState<string>();
  const linkToActiveProjects = (
    <Link to="/projects" className={buttonClass()}>
      {text.showActive}
    </Link>
  );
  return (
    <Page
      title={text.archivedProjects}
      crumbs={[
        <Link key="all" to="/projects">
          {text.title}
        </Link>,
      ]}
    >
      <ResourceList
        label={text.archivedProjects}
        query={archived}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={(project) => `${project.id} ${project.description ?? ''} ${ownerNamesOf(project)}`}
        columns={[
          { id: 'name', title: text.name, cell: (project) => <ProjectCell project={project} /> },
          { id: 'owners', title: text.owners, cell: ownerNamesOf },
          { id: 'archived', title: text.archivedAt, cell: ({ archivedAt }) => <Time at={archivedAt} /> },
        ]}
        actions={({ id }) =>
          mayCall(ReviveProject, { project: id })
            ? [{ id: 'revive', label: text.revive, run: () => setProjectToRevive(id) }]
            : []
        }
        empty={{ title: text.noArchived, help: text.noArchivedHelp, action: linkToActiveProjects }}
      />
      {projectToRevive !== undefined && (
        <ReviveProjectDialog id={projectToRevive} onClose={() => setProjectToRevive(undefined)} />
      )}
    </Page>
  );
};
