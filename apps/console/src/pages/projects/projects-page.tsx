import { AddFavoriteProject, CreateProject, type Project, RemoveFavoriteProject } from '@bunting/contracts';
import { lazyRouteComponent, Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useEnvironments, useProjects, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { type RequestBodyField, RequestBodyDialog } from '../../components/forms/request-body-form.tsx';
import { Button, buttonClass, IconButton } from '../../components/buttons/button.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Checkbox } from '../../components/forms/fields.tsx';
import { MissingPermissionNotice } from '../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../api/use-may-call.ts';
import { Page } from '../../components/layout/page.tsx';
import { ResourceList } from '../../components/resources/resource-list.tsx';
import { Time } from '../../components/content/time.tsx';
import { projectsMessages as text } from '../../messages/projects.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { usePageActions } from '../../shell/page-actions.ts';
import { notifyError } from '../../shell/toasts.tsx';
import { ProjectHealth } from './project-health.tsx';
import { modeField, useStickinessField } from './project-fields.tsx';
import { ownerNamesOf, ProjectCell } from './project-cell.tsx';
import styles from './projects.module.css';

const environmentsField = (names: readonly string[]): RequestBodyField => ({
  name: 'environments',
  label: text.environments,
  render: (value, onChange) => {
    const chosen = Array.isArray(value) ? (value as string[]) : [];
    return (
      <fieldset className={styles['choices']}>
        <legend>{text.environments}</legend>
        {names.map((name) => (
          <Checkbox
            key={name}
            isSelected={chosen.includes(name)}
            onChange={(isChosen) =>
              onChange(names.filter((other) => (other === name ? isChosen : chosen.includes(other))))
            }
          >
            {name}
          </Checkbox>
        ))}
      </fieldset>
    );
  },
});

const CreateProjectDialog = ({
  environments,
  onClose,
}: {
  readonly environments: readonly string[];
  readonly onClose: () => void;
}) => {
  const navigate = useNavigate();
  const stickiness = useStickinessField();
  return (
    <RequestBodyDialog
      title={text.create}
      submit={sharedMessages.common.create}
      operation={CreateProject}
      request={{}}
      values={{ mode: 'open', defaultStickiness: 'default', environments }}
      fields={[
        { name: 'name', label: text.name },
        { name: 'id', label: text.id, hint: text.idHint },
        { name: 'description', label: text.description, rows: 2 },
        modeField,
        stickiness,
        environmentsField(environments),
      ]}
      notification={({ name }) => text.created(String(name))}
      onDone={(_body, { id }) => void navigate({ to: '/projects/$project', params: { project: id } })}
      onClose={onClose}
    />
  );
};

/** Sorts projects: favorites first, then by name. */
const sortProjects = (projects: readonly Project[]): Project[] =>
  projects.toSorted(
    (one, other) =>
      Number(other.favorite ?? false) - Number(one.favorite ?? false) || one.name.localeCompare(other.name),
  );

const FavoriteButton = ({ project: { id, name, favorite = false } }: { readonly project: Project }) => {
  const add = useOperationMutation(AddFavoriteProject, 'handled');
  const remove = useOperationMutation(RemoveFavoriteProject, 'handled');
  return (
    <IconButton
      icon="star"
      size="small"
      filled={favorite}
      label={favorite ? text.unfavorite(name) : text.favorite(name)}
      onPress={() => {
        const params = { projectId: id };
        (favorite ? remove.mutateAsync({ params }) : add.mutateAsync({ params })).catch(notifyError);
      }}
    />
  );
};

const ArchivedProjects = lazyRouteComponent(() => import('./archived-projects.tsx'), 'ArchivedProjects');

const ActiveProjects = () => {
  const projects = useProjects();
  const { data: environments } = useEnvironments();
  const mayCall = useMayCall();
  const [isCreating, setCreating] = useState(false);
  const mayCreate = mayCall(CreateProject);
  const enabledEnvironments = (environments?.environments ?? [])
    .filter((environment) => environment.enabled)
    .map(({ name }) => name);
  usePageActions(
    mayCreate ? [{ id: 'projects.create', title: text.create, key: 'c', run: () => setCreating(true) }] : [],
  );
  const createButton = mayCreate && (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      {text.create}
    </Button>
  );
  return (
    <Page
      title={text.title}
      actions={
        <>
          <Link to="/projects" search={{ show: 'archived' }} className={buttonClass()}>
            {text.showArchived}
          </Link>
          {createButton}
        </>
      }
    >
      <MissingPermissionNotice operation={CreateProject} />
      <ResourceList
        label={text.title}
        query={{ ...projects, data: projects.data && sortProjects(projects.data.projects) }}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={(project) => `${project.id} ${project.description ?? ''} ${ownerNamesOf(project)}`}
        columns={[
          {
            id: 'name',
            title: text.name,
            cell: (project) => (
              <div className={styles['name']}>
                <FavoriteButton project={project} />
                <ProjectCell project={project} />
              </div>
            ),
          },
          { id: 'health', title: text.health, cell: ({ health }) => <ProjectHealth percent={health} /> },
          {
            id: 'flags',
            title: text.flags,
            isNumber: true,
            cell: ({ id, featureCount = 0 }) => (
              <Link to="/projects/$project/flags" params={{ project: id }}>
                {featureCount}
              </Link>
            ),
          },
          { id: 'members', title: text.members, isNumber: true, cell: ({ memberCount = 0 }) => memberCount },
          { id: 'owners', title: text.owners, cell: ownerNamesOf },
          { id: 'updated', title: text.updated, cell: ({ lastUpdatedAt }) => <Time at={lastUpdatedAt} /> },
        ]}
        empty={{ title: text.empty, help: text.emptyHelp, action: createButton }}
      />
      {isCreating && <CreateProjectDialog environments={enabledEnvironments} onClose={() => setCreating(false)} />}
    </Page>
  );
};

/** The projects that the user sees: the active ones, or with `show=archived` the archived ones. */
export const ProjectsPage = () => {
  const { show } = useSearch({ strict: false });
  if (show !== 'archived') return <ActiveProjects />;
  return (
    <Suspense fallback={<Loading />}>
      <ArchivedProjects />
    </Suspense>
  );
};
