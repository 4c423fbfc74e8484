import { CreateFeature, ListUnknownFlags, type UnknownFlags } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Table } from '../../components/content/table.tsx';
import { QueryResult, EmptyState } from '../../components/content/query-result.tsx';
import { Select } from '../../components/forms/fields.tsx';
import { useMayCall } from '../../api/use-may-call.ts';
import { Time } from '../../components/content/time.tsx';
import { useFilterInUrl } from '../../filtering/filter-in-url.ts';
import { cleanupMessages as text } from '../../messages/cleanup.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { CreateFlagDialog } from '../flags/create-flag-dialog.tsx';
import styles from './cleanup.module.css';

type Row = UnknownFlags['unknownFlags'][number];

interface ReportsProps {
  readonly reports: Row['reports'];
}

const Reports = ({ reports }: ReportsProps) => (
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

const sortedUnique = (names: readonly string[]): string[] =>
  [...new Set(names)].filter(Boolean).toSorted((one, other) => one.localeCompare(other));

/** The option for all applications or environments: its blank cannot be in their names. */
const allOption = ' all';

/** The reports of one application or environment; undefined stands for all of them. */
const filterReports = (
  reports: Row['reports'],
  app: string | undefined,
  environment: string | undefined,
): Row['reports'] =>
  reports.filter(
    (report) =>
      (app === undefined || report.appName === app) &&
      (environment === undefined || report.environments.some((reported) => reported.environment === environment)),
  );

interface UnknownFlagsProps {
  /** only flags that applications with keys of this project request */
  readonly project: string | undefined;
  readonly filter: string;
}

/** Flags that applications request and that do not exist, by application and environment, each with a button that creates it. */
export const UnknownFlagsTable = ({ project, filter }: UnknownFlagsProps) => {
  const query = useQuery({
    ...operationQuery(ListUnknownFlags, { query: project === undefined ? {} : { project } }),
    placeholderData: keepPreviousData,
  });
  const { search, write } = useFilterInUrl();
  const { data: projects } = useProjects();
  const mayCall = useMayCall();
  const [nameToCreate, setNameToCreate] = useState<string>();
  const { app, environment } = search;
  const word = filter.trim().toLowerCase();
  const mayCreate = (projects?.projects ?? []).some(({ id }) => mayCall(CreateFeature, { project: id }));
  return (
    <QueryResult query={query}>
      {({ unknownFlags }) => {
        const reports = unknownFlags.flatMap((flag) => flag.reports);
        const rows = unknownFlags
          .filter(({ name }) => name.toLowerCase().includes(word))
          .map((flag) => ({ ...flag, reports: filterReports(flag.reports, app, environment) }))
          .filter((flag) => flag.reports.length > 0);
        if (unknownFlags.length === 0) {
          return <EmptyState title={text.emptyUnknown}>{text.emptyUnknownHelp}</EmptyState>;
        }
        const renderSelect = (label: string, parameter: 'app' | 'environment', names: readonly string[]) => (
          <Select
            label={label}
            options={[
              { id: allOption, label: text.anyOf[parameter] },
              ...sortedUnique([...names, search[parameter] ?? '']).map((name) => ({ id: name, label: name })),
            ]}
            value={search[parameter] ?? allOption}
            onChange={(id) => write({ [parameter]: id === allOption ? undefined : id })}
          />
        );
        return (
          <div className={styles['unknown']}>
            <ul className={styles['todo']}>
              {text.whatToDo.map((advice) => (
                <li key={advice}>{advice}</li>
              ))}
            </ul>
            <div className={styles['filters']}>
              {renderSelect(
                text.application,
                'app',
                reports.map(({ appName }) => appName),
              )}
              {renderSelect(
                text.environment,
                'environment',
                reports.flatMap(({ environments }) => environments.map((reported) => reported.environment)),
              )}
            </div>
            <p role="status">{text.unknownFound(rows.length, unknownFlags.length)}</p>
            {rows.length === 0 ? (
              <EmptyState title={text.noMatchUnknown} />
            ) : (
              <Table
                label={text.reason.unknown}
                rows={rows}
                rowKey={({ name }) => name}
                columns={[
                  { id: 'name', title: text.name, cell: ({ name }) => <bdi>{name}</bdi> },
                  { id: 'applications', title: text.applications, cell: (row) => <Reports reports={row.reports} /> },
                  { id: 'seen', title: text.lastAsked, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
                  ...(mayCreate
                    ? [
                        {
                          id: 'create',
                          title: '',
                          cell: ({ name }: Row) => (
                            <Button
                              size="small"
                              icon="add"
                              aria-label={text.createUnknown(name)}
                              onPress={() => setNameToCreate(name)}
                            >
                              {sharedMessages.common.create}
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
};
