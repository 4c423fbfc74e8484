import { ListProjectApplications } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { Badge } from '../../../components/content/badge.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { projectsMessages as text } from '../../../messages/projects.ts';
import layout from '../../../components/layout/layout.module.css';

/** The applications that use a project, with their SDKs. */
export const ApplicationsTab = ({ project }: { readonly project: string }) => {
  const applications = useQuery({
    ...operationQuery(ListProjectApplications, { params: { projectId: project }, query: { limit: 1_000 } }),
    select: ({ applications: rows }) => rows,
  });
  return (
    <ResourceList
      label={text.tabs.applications}
      query={applications}
      rowKey={({ name }) => name}
      name={({ name }) => name}
      text={({ environments, sdks }) => [...environments, ...sdks.map(({ name }) => name)].join(' ')}
      columns={[
        { id: 'name', title: text.application, cell: ({ name }) => <strong>{name}</strong> },
        {
          id: 'environments',
          title: text.environments,
          cell: ({ environments }) => (
            <span className={layout['inline']}>
              {environments.map((name) => (
                <Badge key={name}>{name}</Badge>
              ))}
            </span>
          ),
        },
        { id: 'instances', title: text.instances, isNumber: true, cell: ({ instances }) => instances.length },
        {
          id: 'sdks',
          title: text.sdks,
          cell: ({ sdks }) => sdks.map(({ name, versions }) => `${name} ${versions.join(', ')}`).join('; '),
        },
      ]}
      empty={{ title: text.noApplications, help: text.noApplicationsHelp }}
    />
  );
};
