import {
  AddFavoriteProject,
  CountFeaturesOfProjects,
  CountOpenChangeRequests,
  CreateProject,
  type Project,
  RemoveFavoriteProject,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useMemo, useState } from 'react';
import { operationQuery, useEnvironments, useProjects, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { type RequestBodyField, RequestBodyDialog } from '../../components/forms/request-body-form.tsx';
import { Button, buttonClass, IconButton } from '../../components/buttons/button.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Select } from '../../components/forms/selects.tsx';
import { Checkbox } from '../../components/forms/fields.tsx';
import { MissingPermissionNotice } from '../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../api/permissions.ts';
import { Page } from '../../components/layout/page.tsx';
import { ResourceList } from '../../components/resources/resource-list.tsx';
import { Time } from '../../components/content/time.tsx';
import { useSearchParameter } from '../../filtering/search-parameter.ts';
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

/** A project with its numbers, which are undefined until they are known. */
interface ListedProject extends Project {
  readonly live: number | undefined;
  readonly stale: number | undefined;
  readonly open: number | undefined;
}

/** All projects with what is counted of them, each in one request for all. The list does not wait for the numbers. */
function useListedProjects() {
  const projects = useProjects();
  const { data: features } = useQuery(operationQuery(CountFeaturesOfProjects, {}));
  const { data: requests } = useQuery(operationQuery(CountOpenChangeRequests, {}));
  const listed = useMemo(() => {
    const featuresById = features && new Map(features.projects.map((counts) => [counts.id, counts]));
    const openById = requests && new Map(requests.projects.map(({ id, open }) => [id, open]));
    return (
      projects.data &&
      sortProjects(projects.data.projects).map((project): ListedProject => {
        const counts = featuresById?.get(project.id);
        return {
          ...project,
          live: featuresById && (counts?.live ?? 0),
          stale: featuresById && (counts?.stale ?? 0),
          open: openById && (openById.get(project.id) ?? 0),
        };
      })
    );
  }, [projects.data, features, requests]);
  return { ...projects, data: listed };
}

const filters: readonly {
  readonly id: string;
  readonly label: string;
  readonly has: (project: ListedProject) => boolean;
}[] = [
  { id: 'all', label: 'All projects', has: () => true },
  { id: 'favourites', label: 'Favourites', has: ({ favorite }) => favorite === true },
  { id: 'requests', label: 'With open change requests', has: ({ open = 0 }) => open > 0 },
  { id: 'stale', label: 'With stale flags', has: ({ stale = 0 }) => stale > 0 },
  { id: 'on', label: 'On in production', has: ({ live = 0 }) => live > 0 },
  { id: 'not-on', label: 'Not on in production', has: ({ live }) => live === 0 },
];

const ArchivedProjects = lazyRouteComponent(() => import('./archived-projects.tsx'), 'ArchivedProjects');

function ActiveProjects() {
  const projects = useListedProjects();
  const [only = 'all', setOnly] = useSearchParameter('only');
  const chosen = filters.find(({ id }) => id === only) ?? filters[0];
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
        query={{ ...projects, data: projects.data?.filter((project) => chosen?.has(project)) }}
        filter={
          projects.data !== undefined && projects.data.length > 1 ? (
            <Select
              label="Show"
              options={filters.map(({ id, label }) => ({ id, label }))}
              value={chosen?.id ?? null}
              onChange={(id) => setOnly(id === 'all' ? undefined : id)}
            />
          ) : undefined
        }
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={(project) => `${project.id} ${project.description ?? ''} ${ownerNamesOf(project)}`}
        columns={[
          {
            title: 'Name',
            sortBy: ({ name }) => name,
            cell: (project) => (
              <div className={styles['name']}>
                <FavoriteButton project={project} />
                <ProjectCell project={project} />
              </div>
            ),
          },
          {
            title: 'Health',
            sortBy: ({ health, featureCount = 0 }) => (featureCount === 0 ? undefined : health),
            cell: ({ health, featureCount = 0 }) => <ProjectHealth percent={health} flagCount={featureCount} />,
          },
          {
            title: 'Flags',
            isNumber: true,
            sortBy: ({ featureCount = 0 }) => featureCount,
            cell: ({ id, featureCount = 0 }) => (
              <Link to="/projects/$project/flags" params={{ project: id }}>
                {formatNumber(featureCount)}
              </Link>
            ),
          },
          {
            title: 'On in production',
            isNumber: true,
            sortBy: ({ live }) => live,
            cell: ({ live }) => live !== undefined && formatNumber(live),
          },
          {
            title: 'Stale',
            isNumber: true,
            sortBy: ({ stale }) => stale,
            cell: ({ id, stale }) =>
              stale !== undefined &&
              (stale === 0 ? (
                '0'
              ) : (
                <Link to="/projects/$project/cleanup" params={{ project: id }} search={{ reason: 'stale' }}>
                  {formatNumber(stale)}
                </Link>
              )),
          },
          {
            title: 'Open requests',
            isNumber: true,
            sortBy: ({ open }) => open,
            cell: ({ id, open }) =>
              open !== undefined &&
              (open === 0 ? (
                '0'
              ) : (
                <Link to="/projects/$project/change-requests" params={{ project: id }}>
                  {formatNumber(open)}
                </Link>
              )),
          },
          {
            title: 'Members',
            isNumber: true,
            sortBy: ({ memberCount = 0 }) => memberCount,
            cell: ({ memberCount = 0 }) => formatNumber(memberCount),
          },
          { title: 'Owners', sortBy: (project) => ownerNamesOf(project) || undefined, cell: ownerNamesOf },
          {
            title: 'Last change',
            sortBy: ({ lastUpdatedAt }) => (lastUpdatedAt == null ? undefined : Date.parse(lastUpdatedAt)),
            cell: ({ lastUpdatedAt }) => <Time at={lastUpdatedAt} />,
          },
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
