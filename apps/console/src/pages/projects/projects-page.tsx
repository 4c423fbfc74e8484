import { AddFavoriteProject, CreateProject, type Project, RemoveFavoriteProject } from '@bunting/contracts';
import { lazyRouteComponent, Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useEnvironments, useProjects, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { type RequestBodyField, RequestBodyDialog } from '../../components/forms/request-body-form.tsx';
import { Button, buttonClass, IconButton } from '../../components/buttons/button.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Checkbox } from '../../components/forms/fields.tsx';
import { MissingPermissionNotice } from '../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../api/permissions.ts';
import { Page } from '../../components/layout/page.tsx';
import { ResourceList } from '../../components/resources/resource-list.tsx';
import { Time } from '../../components/content/time.tsx';
import { usePageActions } from '../../shell/page-actions.ts';
import { notifyError } from '../../shell/toasts.tsx';
import { ProjectHealth, ownerNamesOf, ProjectCell } from './project-cell.tsx';
import { modeField, useStickinessField } from './project-fields.tsx';
import { formatNumber } from '../../text/format-number.ts';
import styles from './projects.module.css';
import { isolated } from '../../text/isolated.ts';

function environmentsField(names: readonly string[]): RequestBodyField {
  return {
    name: 'environments',
    label: 'Environments',
    render: (value, onChange) => {
      const chosen = Array.isArray(value) ? (value as string[]) : [];
      return (
        <fieldset className={styles['choices']}>
          <legend>Environments</legend>
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
  };
}

function CreateProjectDialog({
  environments,
  onClose,
}: {
  readonly environments: readonly string[];
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  const stickiness = useStickinessField();
  return (
    <RequestBodyDialog
      title="Create a project"
      submit="Create"
      operation={CreateProject}
      request={{}}
      values={{ mode: 'open', defaultStickiness: 'default', environments }}
      fields={[
        { name: 'name', label: 'Name' },
        {
          name: 'id',
          label: 'Id',
          hint: 'A part of addresses; it cannot be changed later. Made from the name when you leave it empty.',
        },
        { name: 'description', label: 'Description', rows: 2 },
        modeField,
        stickiness,
        environmentsField(environments),
      ]}
      notification={({ name }) => `The project ${isolated(String(name))} is created.`}
      onDone={(_body, { id }) => void navigate({ to: '/projects/$project', params: { project: id } })}
      onClose={onClose}
    />
  );
}

const { compare } = new Intl.Collator(undefined, { numeric: true });

/** Sorts projects: favorites first, then by name, where 2 comes before 10. */
function sortProjects(projects: readonly Project[]): Project[] {
  return projects.toSorted(
    (one, other) => Number(other.favorite ?? false) - Number(one.favorite ?? false) || compare(one.name, other.name),
  );
}

function FavoriteButton({ project: { id, name, favorite = false } }: { readonly project: Project }) {
  const add = useOperationMutation(AddFavoriteProject, 'handled');
  const remove = useOperationMutation(RemoveFavoriteProject, 'handled');
  return (
    <IconButton
      icon="star"
      size="small"
      filled={favorite}
      label={favorite ? `${name} is a favourite: remove the mark` : `Mark ${name} as a favourite`}
      onPress={() => {
        const params = { projectId: id };
        (favorite ? remove.mutateAsync({ params }) : add.mutateAsync({ params })).catch(notifyError);
      }}
    />
  );
}

const ArchivedProjects = lazyRouteComponent(() => import('./archived-projects.tsx'), 'ArchivedProjects');

function ActiveProjects() {
  const projects = useProjects();
  const { data: environments } = useEnvironments();
  const mayCall = useMayCall();
  const [isCreating, setCreating] = useState(false);
  const mayCreate = mayCall(CreateProject);
  const enabledEnvironments = (environments?.environments ?? [])
    .filter((environment) => environment.enabled)
    .map(({ name }) => name);
  usePageActions(
    mayCreate ? [{ id: 'projects.create', title: 'Create a project', key: 'c', run: () => setCreating(true) }] : [],
  );
  const createButton = mayCreate && (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      Create a project
    </Button>
  );
  return (
    <Page
      title="Projects"
      actions={
        <>
          <Link to="/projects" search={{ show: 'archived' }} className={buttonClass()}>
            Archived projects
          </Link>
          {createButton}
        </>
      }
    >
      <MissingPermissionNotice operation={CreateProject} />
      <ResourceList
        label="Projects"
        query={{ ...projects, data: projects.data && sortProjects(projects.data.projects) }}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={(project) => `${project.id} ${project.description ?? ''} ${ownerNamesOf(project)}`}
        columns={[
          {
            title: 'Name',
            cell: (project) => (
              <div className={styles['name']}>
                <FavoriteButton project={project} />
                <ProjectCell project={project} />
              </div>
            ),
          },
          {
            title: 'Health',
            cell: ({ health, featureCount = 0 }) => <ProjectHealth percent={health} flagCount={featureCount} />,
          },
          {
            title: 'Flags',
            isNumber: true,
            cell: ({ id, featureCount = 0 }) => (
              <Link to="/projects/$project/flags" params={{ project: id }}>
                {formatNumber(featureCount)}
              </Link>
            ),
          },
          { title: 'Members', isNumber: true, cell: ({ memberCount = 0 }) => formatNumber(memberCount) },
          { title: 'Owners', cell: ownerNamesOf },
          { title: 'Last change', cell: ({ lastUpdatedAt }) => <Time at={lastUpdatedAt} /> },
        ]}
        empty={{
          title: 'No projects yet',
          help: 'A project holds the flags of a team, with its environments, members and rules.',
          action: createButton,
        }}
      />
      {isCreating && <CreateProjectDialog environments={enabledEnvironments} onClose={() => setCreating(false)} />}
    </Page>
  );
}

/** The projects that the user sees: the active ones, or with `show=archived` the archived ones. */
export function ProjectsPage() {
  const { show } = useSearch({ strict: false });
  if (show !== 'archived') return <ActiveProjects />;
  return (
    <Suspense fallback={<Loading />}>
      <ArchivedProjects />
    </Suspense>
  );
}
