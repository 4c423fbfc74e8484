import { ListProjectApplications } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { EnvironmentName } from '../../../components/environments/environment-name.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { ConnectSdkButton } from '../../connect/connect-sdk-button.tsx';
import layout from '../../../components/layout/layout.module.css';

/** The applications that use a project, with their SDKs. */
export function ApplicationsTab({ project }: { readonly project: string }) {
  const applications = useQuery({
    ...operationQuery(ListProjectApplications, { params: { projectId: project }, query: { limit: 1_000 } }),
    select: ({ applications: rows }) => rows,
  });
  return (
    <ResourceList
      label="Applications"
      query={applications}
      rowKey={({ name }) => name}
      name={({ name }) => name}
      text={({ environments, sdks }) => [...environments, ...sdks.map(({ name }) => name)].join(' ')}
      columns={[
        {
          title: 'Application',
          cell: ({ name }) => (
            <Link to="/admin/$section/$item" params={{ section: 'applications', item: name }}>
              <bdi>{name}</bdi>
            </Link>
          ),
        },
        {
          title: 'Environments',
          cell: ({ environments }) => (
            <span className={layout['inline']}>
              {environments.map((name) => (
                <EnvironmentName key={name} name={name} />
              ))}
            </span>
          ),
        },
        { title: 'Instances', isNumber: true, cell: ({ instances }) => instances.length },
        {
          title: 'SDKs',
          cell: ({ sdks }) => sdks.map(({ name, versions }) => [name, versions.join(', ')].join(' ').trim()).join('; '),
        },
      ]}
      empty={{
        title: 'No application uses this project yet',
        help: 'An application appears here when it has a token of the project, or has evaluated one of its flags.',
        action: <ConnectSdkButton project={project} />,
      }}
    />
  );
}
