import {
  type ApplicationOverview,
  DeleteApplication,
  DescribeApplication,
  GetApplication,
  GetApplicationOverview,
  type ReplyOf,
} from '@bunting/contracts';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { Time } from '../../../components/content/time.tsx';
import { applicationsMessages as text } from '../../../messages/administration/applications.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { AdminPage } from '../admin-page.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';

type Application = ReplyOf<typeof GetApplication>;
type SeenFlag = Application['seenToggles'][number];

const Names = ({ names }: { readonly names: readonly string[] }) => (
  <ul className={styles['chips']}>
    {names.map((name) => (
      <li key={name}>
        <code dir="auto">{name}</code>
      </li>
    ))}
  </ul>
);

/** The problems of an application: flags and strategy types that do not exist, and outdated SDKs. */
const Issues = ({ overview: { environments, issues } }: { readonly overview: ApplicationOverview }) => {
  const faultyEnvironments = environments.filter(
    ({ issues: found }) => found.missingFeatures.length > 0 || found.outdatedSdks.length > 0,
  );
  if (faultyEnvironments.length === 0 && issues.missingStrategies.length === 0) return <Notice>{text.nothing}</Notice>;
  return (
    <>
      {faultyEnvironments.map(({ name, issues: { missingFeatures, outdatedSdks } }) => (
        <Notice key={name} tone="warning">
          {missingFeatures.length > 0 && (
            <>
              <p>{text.unknownFlags(name, missingFeatures.length)}</p>
              <Names names={missingFeatures} />
            </>
          )}
          {outdatedSdks.length > 0 && <p>{text.outdatedIn(name, outdatedSdks)}</p>}
        </Notice>
      ))}
      {issues.missingStrategies.length > 0 && (
        <Notice tone="warning">
          <p>{text.missingStrategies(issues.missingStrategies.length)}</p>
          <Names names={issues.missingStrategies} />
        </Notice>
      )}
    </>
  );
};

/** The description and the page of an application, its SDK and its first key, and when it was first and last seen. */
const Facts = ({ application }: { readonly application: Application }) => {
  const { description, sdkVersion, createdAt, createdBy, lastSeenAt } = application;
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
          [text.sdk, sdkVersion ?? '–'],
          [text.lastSeen, <Time key="seen" at={lastSeenAt} />],
          [text.firstSeen, <Time key="created" at={createdAt} />],
          [text.createdBy, createdBy ?? '–'],
        ].map(([label, value]) => (
          <div key={String(label)}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
};

interface DetailsListProps {
  readonly details: UseQueryResult<Application>;
}

/** The instances of an application that reported in the last two days. */
const Instances = ({ details }: DetailsListProps) => (
  <ResourceList
    label={text.instances}
    parameter="instance"
    query={{ ...details, data: details.data?.instances }}
    rowKey={({ instanceId, environment }) => `${instanceId} ${environment}`}
    name={({ instanceId }) => instanceId}
    text={(instance) => `${instance.environment} ${instance.sdkVersion ?? ''}`}
    columns={[
      { id: 'instance', title: text.instance, cell: ({ instanceId }) => <code>{instanceId}</code> },
      { id: 'environment', title: text.environment, cell: ({ environment }) => environment },
      { id: 'sdk', title: text.sdk, cell: (instance) => instance.sdkVersion },
      { id: 'seen', title: text.lastSeen, cell: ({ lastSeen }) => <Time at={lastSeen} /> },
    ]}
    empty={{ title: text.noInstances, help: text.noInstancesHelp }}
  />
);

const FlagStateBadge = ({ notFound = false, stale = false }: SeenFlag) => {
  if (notFound) return <Badge tone="danger">{text.unknown}</Badge>;
  return stale ? <Badge tone="warning">{text.stale}</Badge> : <Badge tone="good">{text.used}</Badge>;
};

/** The flags that an application evaluated in the last two days, also those that do not exist. */
const SeenFlags = ({ details }: DetailsListProps) => (
  <ResourceList
    label={text.flags}
    parameter="flag"
    query={{ ...details, data: details.data?.seenToggles }}
    rowKey={({ name }) => name}
    name={({ name }) => name}
    text={({ project = '' }) => project}
    columns={[
      {
        id: 'flag',
        title: text.flag,
        cell: ({ name: feature, project }) =>
          project === undefined ? (
            <code dir="auto">{feature}</code>
          ) : (
            <Link to="/projects/$project/features/$feature" params={{ project, feature }}>
              {feature}
            </Link>
          ),
      },
      { id: 'project', title: text.project, cell: ({ project }) => project },
      { id: 'state', title: text.state, cell: FlagStateBadge },
    ]}
    empty={{ title: text.noFlags, help: text.noFlagsHelp }}
  />
);

/** One application: where it runs, with which SDKs, and which flags it uses. */
export const ApplicationPage = ({ name }: { readonly name: string }) => {
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
              {text.describe}
            </Button>
            <Button icon="remove" onPress={() => setOpenDialog('remove')}>
              {text.remove}
            </Button>
          </>
        )
      }
    >
      <QueryResult query={details}>
        {(data) => (
          <>
            <Facts application={data} />
            <section className={layout['section']} aria-labelledby="status">
              <h2 id="status">{text.status}</h2>
              <QueryResult query={overview}>{(current) => <Issues overview={current} />}</QueryResult>
            </section>
            <section className={layout['section']} aria-labelledby="instances">
              <h2 id="instances">{text.instances}</h2>
              <Instances details={details} />
            </section>
            <section className={layout['section']} aria-labelledby="flags">
              <h2 id="flags">{text.flags}</h2>
              <SeenFlags details={details} />
            </section>
          </>
        )}
      </QueryResult>
      {openDialog === 'describe' && application !== undefined && (
        <RequestBodyDialog
          title={text.describeTitle(name)}
          submit={sharedMessages.common.save}
          operation={DescribeApplication}
          request={{ params }}
          values={{ description: application.description, url: application.url }}
          fields={[
            { name: 'description', label: text.description, rows: 2 },
            { name: 'url', label: text.pageUrl },
          ]}
          notification={() => text.described(name)}
          onClose={close}
        />
      )}
      {openDialog === 'remove' && (
        <ConfirmOperationDialog
          title={text.removeTitle(name)}
          confirm={text.remove}
          isDangerous
          operation={DeleteApplication}
          request={{ params }}
          notification={text.removed(name)}
          onClose={close}
          onDone={() => void navigate({ to: '/admin/$section', params: { section: 'applications' } })}
        >
          <p>{text.removeHelp}</p>
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};
