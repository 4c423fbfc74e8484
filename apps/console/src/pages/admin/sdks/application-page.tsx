import {
  type ApplicationOverview,
  DeleteApplication,
  DescribeApplication,
  GetApplication,
  GetApplicationOverview,
  ListUnknownFlags,
  type ReplyOf,
} from '@bunting/contracts';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { EnvironmentName } from '../../../components/environments/environment-name.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { Time } from '../../../components/content/time.tsx';
import { AdminPage } from '../admin-page.tsx';
import { NameList } from '../name-list.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { ProjectName } from '../../../components/content/project-name.tsx';
import { isolated } from '../../../text/isolated.ts';

type Application = ReplyOf<typeof GetApplication>;
type SeenFlag = Application['seenToggles'][number];

/** The projects of the archived flags that applications ask for, by the names of the flags. */
function useArchivedIn(isNeeded: boolean): ReadonlyMap<string, string> {
  const { data } = useQuery({ ...operationQuery(ListUnknownFlags, { query: {} }), enabled: isNeeded });
  return new Map(
    data?.unknownFlags.flatMap(({ name, archivedIn }) => (archivedIn == null ? [] : [[name, archivedIn] as const])),
  );
}

interface MissingFlagsProps {
  readonly environment: string;
  readonly names: readonly string[];
  /** the projects of the flags among them that are archived */
  readonly archivedIn: ReadonlyMap<string, string>;
}

/** Flags that an application asks for in an environment and does not get: those that do not exist, and those that are archived. */
function MissingFlags({ environment, names, archivedIn }: MissingFlagsProps) {
  const archived = names.filter((name) => archivedIn.has(name));
  const missing = names.filter((name) => !archivedIn.has(name));
  return (
    <>
      {missing.length > 0 && (
        <>
          <p>
            {formatCount(missing.length, 'flag')} that it asks for in {environment}{' '}
            {missing.length === 1 ? 'does' : 'do'} not exist:
          </p>
          <NameList names={missing} />
        </>
      )}
      {archived.length > 0 && (
        <>
          <p>
            {formatCount(archived.length, 'flag')} that it asks for in {environment}{' '}
            {archived.length === 1 ? 'is' : 'are'} archived:
          </p>
          <ul className={styles['chips']}>
            {archived.map((name) => (
              <li key={name}>
                <Link
                  to="/projects/$project/features/$feature"
                  params={{ project: archivedIn.get(name) ?? '', feature: name }}
                >
                  <code dir="auto">{name}</code>
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** The problems of an application: flags and strategy types that do not exist, and outdated SDKs. */
function Issues({ overview: { environments, issues } }: { readonly overview: ApplicationOverview }) {
  const faultyEnvironments = environments.filter(
    ({ issues: found }) => found.missingFeatures.length > 0 || found.outdatedSdks.length > 0,
  );
  const asksForMissing = faultyEnvironments.some(({ issues: found }) => found.missingFeatures.length > 0);
  const archivedIn = useArchivedIn(asksForMissing);
  if (faultyEnvironments.length === 0 && issues.missingStrategies.length === 0)
    return <Notice>Nothing: its SDKs are up to date, and all flags and strategy types that it names exist.</Notice>;
  return (
    <>
      {faultyEnvironments.map(({ name, issues: { missingFeatures, outdatedSdks } }) => (
        <Notice key={name} tone="warning">
          <MissingFlags environment={name} names={missingFeatures} archivedIn={archivedIn} />
          {outdatedSdks.length > 0 && (
            <p>
              Outdated in {name}: {outdatedSdks.join(', ')}
            </p>
          )}
        </Notice>
      ))}
      {issues.missingStrategies.length > 0 && (
        <Notice tone="warning">
          <p>
            {formatCount(issues.missingStrategies.length, 'strategy type')} that it knows{' '}
            {issues.missingStrategies.length === 1 ? 'does' : 'do'} not exist here:
          </p>
          <NameList names={issues.missingStrategies} />
        </Notice>
      )}
    </>
  );
}

/** The description and the page of an application, its SDK and its first key, and when it was first and last seen. */
function Facts({ application }: { readonly application: Application }) {
  const { description, sdkVersion, createdAt, createdBy, lastSeenAt, instances } = application;
  const reported = [...new Set(instances.flatMap((instance) => instance.sdkVersion ?? []))].toSorted();
  const sdks = reported.length > 0 ? reported : [sdkVersion ?? '–'];
  const url = application.url != null && /^https?:\/\//i.test(application.url) ? application.url : undefined;
  return (
    <>
      {description !== null && description !== '' && <p dir="auto">{description}</p>}
      {url !== undefined && (
        <p>
          <a href={url} rel="noreferrer noopener" target="_blank">
            {url}
          </a>
        </p>
      )}
      <dl className={styles['facts']}>
        {[
          [
            sdks.length === 1 ? 'SDK' : 'SDKs',
            <ul key="sdks" className={styles['names']}>
              {sdks.map((sdk) => (
                <li key={sdk} title={sdk}>
                  {sdk}
                </li>
              ))}
            </ul>,
          ],
          ['Last seen', <Time key="seen" at={lastSeenAt} />],
          ['First seen', <Time key="created" at={createdAt} />],
          ['First key', createdBy ?? '–'],
        ].map(([label, value]) => (
          <div key={String(label)}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

interface DetailsListProps {
  readonly details: UseQueryResult<Application>;
}

/** The instances of an application that reported in the last two days. */
function Instances({ details }: DetailsListProps) {
  return (
    <ResourceList
      label="Instances"
      parameter="instance"
      query={{ ...details, data: details.data?.instances }}
      rowKey={({ instanceId, environment }) => `${instanceId} ${environment}`}
      name={({ instanceId }) => instanceId}
      text={(instance) => `${instance.environment} ${instance.sdkVersion ?? ''}`}
      columns={[
        { title: 'Instance', cell: ({ instanceId }) => <code>{instanceId}</code> },
        { title: 'Environment', cell: ({ environment }) => <EnvironmentName name={environment} /> },
        { title: 'SDK', cell: (instance) => instance.sdkVersion },
        { title: 'Last seen', cell: ({ lastSeen }) => <Time at={lastSeen} /> },
      ]}
      empty={{
        title: 'No instance has reported in the last two days',
        help: 'It may be stopped, or its key may have expired.',
      }}
    />
  );
}

function FlagStateBadge({ notFound = false, stale = false, isArchived }: SeenFlag & { readonly isArchived: boolean }) {
  if (isArchived) return <Badge tone="warning">archived</Badge>;
  if (notFound) return <Badge tone="danger">does not exist</Badge>;
  return stale ? <Badge tone="warning">stale</Badge> : <Badge tone="good">in use</Badge>;
}

/** The flags that an application evaluated in the last two days, also those that do not exist. */
function SeenFlags({ details }: DetailsListProps) {
  const archivedIn = useArchivedIn(details.data?.seenToggles.some(({ notFound }) => notFound === true) === true);
  return (
    <ResourceList
      label="Flags that it uses"
      parameter="flag"
      query={{ ...details, data: details.data?.seenToggles }}
      rowKey={({ name }) => name}
      name={({ name }) => name}
      text={({ project = '' }) => project}
      columns={[
        {
          title: 'Flag',
          cell: ({ name: feature, project = archivedIn.get(feature) }) =>
            project === undefined ? (
              <code dir="auto">{feature}</code>
            ) : (
              <Link to="/projects/$project/features/$feature" params={{ project, feature }}>
                {feature}
              </Link>
            ),
        },
        {
          title: 'Project',
          cell: ({ name: flag, project = archivedIn.get(flag) }) =>
            project !== undefined && <ProjectName id={project} />,
        },
        { title: 'State', cell: (flag) => <FlagStateBadge {...flag} isArchived={archivedIn.has(flag.name)} /> },
      ]}
      empty={{
        title: 'It has evaluated no flag in the last two days',
        help: 'SDKs report their evaluations once a minute, unless metrics are turned off in them.',
      }}
    />
  );
}

/** One application: where it runs, with which SDKs, and which flags it uses. */
export function ApplicationPage({ name }: { readonly name: string }) {
  const params = { appName: name };
  const details = useQuery(operationQuery(GetApplication, { params }));
  const overview = useQuery(operationQuery(GetApplicationOverview, { params }));
  const navigate = useNavigate();
  const mayCall = useMayCall();
  const [openDialog, setOpenDialog] = useState<'describe' | 'remove' | undefined>();
  const close = (): void => setOpenDialog(undefined);
  const application = details.data;
  return (
    <AdminPage
      id="applications"
      title={name}
      actions={
        mayCall(DescribeApplication) &&
        application !== undefined && (
          <>
            <Button icon="edit" onPress={() => setOpenDialog('describe')}>
              Describe
            </Button>
            <Button icon="remove" onPress={() => setOpenDialog('remove')}>
              Remove from the list
            </Button>
          </>
        )
      }
    >
      <QueryResult
        query={details}
        part="application"
        notFound="It may have been removed from the list, or the address is mistyped. An application is listed when its SDK reports."
      >
        {(data) => (
          <>
            <Facts application={data} />
            <section className={layout['section']} aria-labelledby="status">
              <h2 id="status">Problems</h2>
              <QueryResult query={overview}>{(current) => <Issues overview={current} />}</QueryResult>
            </section>
            <section className={layout['section']} aria-labelledby="instances">
              <h2 id="instances">Instances</h2>
              <Instances details={details} />
            </section>
            <section className={layout['section']} aria-labelledby="flags">
              <h2 id="flags">Flags that it uses</h2>
              <SeenFlags details={details} />
            </section>
          </>
        )}
      </QueryResult>
      {openDialog === 'describe' && application !== undefined && (
        <RequestBodyDialog
          title={`Describe “${isolated(name)}”`}
          submit="Save"
          operation={DescribeApplication}
          request={{ params }}
          values={{ description: application.description, url: application.url }}
          fields={[
            { name: 'description', label: 'Description', rows: 2 },
            { name: 'url', label: 'Address of its page' },
          ]}
          notification={() => `${isolated(name)} is described.`}
          onClose={close}
        />
      )}
      {openDialog === 'remove' && (
        <ConfirmOperationDialog
          title={`Remove “${isolated(name)}” from the list?`}
          confirm="Remove from the list"
          isDangerous
          operation={DeleteApplication}
          request={{ params }}
          notification={`${isolated(name)} is removed.`}
          onClose={close}
          onDone={() => void navigate({ to: '/admin/$section', params: { section: 'applications' } })}
        >
          <p>Its instances and what it uses are forgotten. When it reports again, it is listed again.</p>
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
}
