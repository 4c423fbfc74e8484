import { CreateFeature, ListUnknownFlags, type UnknownFlags } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Table } from '../../components/content/table.tsx';
import { QueryResult, EmptyState } from '../../components/content/query-result.tsx';
import { Select } from '../../components/forms/selects.tsx';
import { useMayCall } from '../../api/permissions.ts';
import { Time } from '../../components/content/time.tsx';
import { useFilterInUrl } from '../../filtering/search-parameter.ts';
import { CreateFlagDialog } from '../flags/create-flag-dialog.tsx';
import styles from './cleanup.module.css';
import { formatCount } from '../../text/format-number.ts';

const texts = {
  filters: { app: 'Application', environment: 'Environment' },
  anyOf: { app: 'All applications', environment: 'All environments' },
  whatToDo: [
    'The flag was deleted or archived on purpose: take its name out of the code of the application.',
    'It was archived too early: revive it in the archive of its project.',
    'It is not created yet, or its name is mistyped in the code: create it, or correct the code.',
    'It is in a project that the key of the application is not for: use a key for that project.',
  ],
} as const;

type Row = UnknownFlags['unknownFlags'][number];

interface ReportsProps {
  readonly reports: Row['reports'];
}

function Reports({ reports }: ReportsProps) {
  return (
    <ul className={styles['reports']}>
      {reports.map(({ appName, environments }) => (
        <li key={appName}>
          <Link to="/admin/$section/$item" params={{ section: 'applications', item: appName }}>
            <bdi>{appName}</bdi>
          </Link>{' '}
          ({environments.map(({ environment }) => environment).join(', ')})
        </li>
      ))}
    </ul>
  );
}

function sortedUnique(names: readonly string[]): string[] {
  return [...new Set(names)].filter(Boolean).toSorted((one, other) => one.localeCompare(other));
}

/** The option for all applications or environments: its blank cannot be in their names. */
const allOption = ' all';

/** The reports of one application or environment; undefined stands for all of them. */
function filterReports(
  reports: Row['reports'],
  app: string | undefined,
  environment: string | undefined,
): Row['reports'] {
  return reports.filter(
    (report) =>
      (app === undefined || report.appName === app) &&
      (environment === undefined || report.environments.some((reported) => reported.environment === environment)),
  );
}

function useUnknownFlags(project: string | undefined) {
  return useQuery({
    ...operationQuery(ListUnknownFlags, { query: project === undefined ? {} : { project } }),
    placeholderData: keepPreviousData,
  });
}

/** The applications and environments of which unknown flags are listed. */
export function UnknownFlagsFilters({ project }: Pick<UnknownFlagsProps, 'project'>) {
  const { search, write } = useFilterInUrl();
  const { data } = useUnknownFlags(project);
  const reports = data?.unknownFlags.flatMap((flag) => flag.reports) ?? [];
  if (data !== undefined && reports.length === 0) return null;
  const names = {
    app: reports.map(({ appName }) => appName),
    environment: reports.flatMap(({ environments }) => environments.map(({ environment }) => environment)),
  };
  return (['app', 'environment'] as const).map((parameter) => (
    <Select
      key={parameter}
      label={texts.filters[parameter]}
      options={[
        { id: allOption, label: texts.anyOf[parameter] },
        ...sortedUnique([...names[parameter], search[parameter] ?? '']).map((name) => ({ id: name, label: name })),
      ]}
      value={search[parameter] ?? allOption}
      onChange={(id) => write({ [parameter]: id === allOption ? undefined : id })}
    />
  ));
}

interface UnknownFlagsProps {
  /** only flags that applications with keys of this project request */
  readonly project: string | undefined;
  readonly filter: string;
}

/** Flags that applications request and that do not exist, by application and environment, each with a button that creates it. */
export function UnknownFlagsTable({ project, filter }: UnknownFlagsProps) {
  const query = useUnknownFlags(project);
  const { search } = useFilterInUrl();
  const { data: projects } = useProjects();
  const mayCall = useMayCall();
  const [nameToCreate, setNameToCreate] = useState<string>();
  const { app, environment } = search;
  const word = filter.trim().toLowerCase();
  const mayCreate = (projects?.projects ?? []).some(({ id }) => mayCall(CreateFeature, { project: id }));
  return (
    <QueryResult query={query}>
      {({ unknownFlags }) => {
        const rows = unknownFlags
          .filter(({ name }) => name.toLowerCase().includes(word))
          .map((flag) => ({ ...flag, reports: filterReports(flag.reports, app, environment) }))
          .filter((flag) => flag.reports.length > 0);
        if (unknownFlags.length === 0) {
          return (
            <EmptyState title="Applications ask for flags that exist">
              When the code of an application asks for a flag that does not exist, its name appears here.
            </EmptyState>
          );
        }
        return (
          <div className={styles['unknown']}>
            <ul className={styles['todo']}>
              {texts.whatToDo.map((advice) => (
                <li key={advice}>{advice}</li>
              ))}
            </ul>
            <p role="status">
              {rows.length === unknownFlags.length
                ? formatCount(unknownFlags.length, 'unknown flag')
                : `${rows.length} of ${formatCount(unknownFlags.length, 'unknown flag')}`}
            </p>
            {rows.length === 0 ? (
              <EmptyState title="No application asks for such a name" />
            ) : (
              <Table
                label="Unknown flags"
                rows={rows}
                rowKey={({ name }) => name}
                columns={[
                  {
                    title: 'Flag',
                    cell: ({ name, archivedIn }) =>
                      archivedIn == null ? (
                        <bdi>{name}</bdi>
                      ) : (
                        <>
                          <Link
                            to="/projects/$project/features/$feature"
                            params={{ project: archivedIn, feature: name }}
                          >
                            <bdi>{name}</bdi>
                          </Link>{' '}
                          <Badge tone="warning">archived</Badge>
                        </>
                      ),
                  },
                  { title: 'Applications', cell: (row) => <Reports reports={row.reports} /> },
                  { title: 'Last asked for', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
                  ...(mayCreate
                    ? [
                        {
                          title: '',
                          cell: ({ name, archivedIn }: Row) =>
                            archivedIn === null && (
                              <Button
                                size="small"
                                icon="add"
                                aria-label={`Create ${name}`}
                                onPress={() => setNameToCreate(name)}
                              >
                                Create
                              </Button>
                            ),
                        },
                      ]
                    : []),
                ]}
              />
            )}
            {nameToCreate !== undefined && (
              <CreateFlagDialog project={project} name={nameToCreate} onClose={() => setNameToCreate(undefined)} />
            )}
          </div>
        );
      }}
    </QueryResult>
  );
}
