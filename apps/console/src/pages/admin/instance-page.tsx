import {
  GetEventLogSize,
  GetInstanceStatistics,
  GetInstanceStatisticsCsv,
  GetReindexStatus,
  GetUiConfig,
  type InstanceStatistics,
  CollectDeadLetters,
  noLimit,
  type ResourceLimits,
  StartReindex,
  type UiConfig,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/call.ts';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../components/dialogs/confirm-operation-dialog.tsx';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { Table } from '../../components/content/table.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { useMayCall } from '../../api/use-may-call.ts';
import { ResourceList } from '../../components/resources/resource-list.tsx';
import { Time } from '../../components/content/time.tsx';
import { bytesText, instanceMessages as text } from '../../messages/administration/instance.ts';
import { notifyError } from '../../shell/toasts.tsx';
import { AdminPage } from './admin-page.tsx';
import { saveFile } from './transfer/save-file.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './people/people.module.css';

const LogIntegrity = lazyRouteComponent(() => import('../events/log-integrity.tsx'), 'LogIntegrity');

interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly action?: React.ReactNode;
  readonly children: React.ReactNode;
}

const Section = ({ id, title, action, children }: SectionProps) => (
  <section className={layout['section']} aria-labelledby={id}>
    <div className={layout['bar']}>
      <h2 id={id}>{title}</h2>
      {action}
    </div>
    {children}
  </section>
);

const onOff = (isOn: boolean): string => (isOn ? text.on : text.off);

const Facts = ({ config }: { readonly config: UiConfig }) => (
  <dl className={styles['pairs']}>
    {[
      [text.version, `${config.name} ${config.version}`],
      [text.unleash, config.versionInfo.current.oss],
      [text.instanceId, config.versionInfo.instanceId],
      [text.publicUrl, config.unleashUrl || text.noPublicUrl],
      [
        text.origins,
        config.frontendApiOrigins.includes('*') ? text.anyOrigin : config.frontendApiOrigins.join(', ') || text.nothing,
      ],
      [text.mail, config.emailEnabled ? text.isSet : text.notSet],
      [text.sso, config.oidcConfiguredThroughEnv ? text.ssoByVariables : text.ssoByApi],
      [text.passwords, onOff(!config.disablePasswordAuth)],
      [text.telemetry, text.nothing],
    ].map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

interface Readiness {
  readonly isReady: boolean;
  readonly reason: string;
  /** the dependencies that are unavailable, but without which the gateway can still serve */
  readonly unavailable: readonly string[];
}

/** Reads the readiness of the gateway, which needs no credentials. A response with status 503 has a body with the reason, too. */
const readReadiness = async ({ signal }: { readonly signal: AbortSignal }): Promise<Readiness> => {
  const response = await fetch('/health/ready', { signal, cache: 'no-store' });
  const body = (await response.json()) as { readonly reason?: unknown; readonly unavailable?: readonly string[] };
  const reason = typeof body.reason === 'string' ? body.reason : String(response.status);
  return { isReady: response.ok, reason, unavailable: body.unavailable ?? [] };
};

const ReadinessBadge = ({ isReady, reason, unavailable }: Readiness) => {
  if (!isReady) return <Badge tone="danger">{text.notReady(reason)}</Badge>;
  if (unavailable.length > 0) return <Badge tone="warning">{text.withoutDependencies(unavailable)}</Badge>;
  return <Badge tone="good">{text.ready}</Badge>;
};

const InstallationHealth = () => {
  const readiness = useQuery({
    queryKey: ['readiness'],
    queryFn: readReadiness,
    refetchInterval: 5_000,
    retry: false,
  });
  return (
    <QueryResult query={readiness}>
      {(data) => (
        <>
          <p role="status">
            <ReadinessBadge {...data} />
          </p>
          <p className={layout['muted']}>{text.checkedAgain}</p>
        </>
      )}
    </QueryResult>
  );
};

const Statistics = ({ statistics }: { readonly statistics: InstanceStatistics }) => {
  const counts = Object.entries(text.counts).map(
    ([name, label]) => [label, statistics[name as keyof typeof text.counts]] as const,
  );
  return (
    <dl className={styles['facts']}>
      {[
        ...counts,
        [text.activeUsers, statistics.activeUsers.last30] as const,
        [text.applications, statistics.clientApps.find(({ range }) => range === '30d')?.count ?? 0] as const,
        [text.changes, statistics.productionChanges.last30] as const,
      ].map(([label, n]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{text.formatNumber(n)}</dd>
        </div>
      ))}
    </dl>
  );
};

/** The number of existing things that a limit counts; undefined for a limit that holds for each flag, strategy or segment. */
const usedCountOf = (name: string, statistics: InstanceStatistics | undefined): number | undefined => {
  if (statistics === undefined) return undefined;
  const { apiTokens, featureToggles, projects, environments, segments } = statistics;
  const tokenCount = apiTokens.admin + apiTokens.client + apiTokens.frontend;
  return { featureFlags: featureToggles, projects, environments, segments, apiTokens: tokenCount }[name];
};

interface LimitsProps {
  readonly limits: ResourceLimits;
  readonly statistics: InstanceStatistics | undefined;
}

const Limits = ({ limits, statistics }: LimitsProps) => (
  <Table
    label={text.limits}
    rows={Object.entries(text.limitNames).map(([name, label]) => ({
      name,
      label,
      limit: limits[name as keyof typeof text.limitNames],
      used: usedCountOf(name, statistics),
    }))}
    rowKey={({ name }) => name}
    columns={[
      { id: 'limit', title: text.limit, cell: ({ label }) => label },
      {
        id: 'used',
        title: text.used,
        cell: ({ used, limit }) =>
          used === undefined ? null : (
            <Badge tone={used >= limit * 0.9 ? 'warning' : 'neutral'}>{text.formatNumber(used)}</Badge>
          ),
      },
      {
        id: 'max',
        title: text.max,
        cell: ({ limit }) => (limit >= noLimit ? text.noLimit : text.formatNumber(limit)),
      },
    ]}
  />
);

const EventLog = () => {
  const size = useQuery(operationQuery(GetEventLogSize, {}));
  return (
    <QueryResult query={size}>
      {({ events, bytes, oldest, retentionDays }) => (
        <p>
          {text.logSize(events, bytesText(bytes.total))}.{' '}
          {oldest !== null && (
            <>
              {text.oldest} <Time at={oldest} isAbsolute />.{' '}
            </>
          )}
          {retentionDays === null ? text.keptForEver : text.retention(retentionDays)}
        </p>
      )}
    </QueryResult>
  );
};

const DeadLetters = () => {
  const letters = useQuery({ ...operationQuery(CollectDeadLetters, {}), refetchInterval: 30_000 });
  const unanswered = letters.data?.unanswered ?? [];
  return (
    <>
      {unanswered.length > 0 && <Notice tone="warning">{text.unanswered(unanswered)}</Notice>}
      <ResourceList
        label={text.deadLetters}
        parameter="letter"
        query={{ ...letters, data: letters.data?.deadLetters }}
        rowKey={({ service, uid }) => `${service} ${uid}`}
        name={({ type }) => type}
        text={({ service, producer, reason }) => `${service} ${producer} ${reason}`}
        columns={[
          { id: 'service', title: text.service, cell: ({ service }) => service },
          {
            id: 'message',
            title: text.message,
            cell: ({ type, producer, position }) => (
              <div className={styles['twoLines']}>
                <code>{type}</code>
                <span>{text.from(producer, position)}</span>
              </div>
            ),
          },
          { id: 'reason', title: text.reason, cell: ({ reason }) => reason },
          { id: 'attempts', title: text.attempts, cell: ({ attempts }) => attempts, isNumber: true },
          { id: 'next', title: text.next, cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
        ]}
        empty={{ title: text.noDeadLetters, help: text.noDeadLettersHelp }}
      />
    </>
  );
};

const SearchIndex = () => {
  const [isConfirming, setConfirming] = useState(false);
  const reindex = useQuery({
    ...operationQuery(GetReindexStatus, {}),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? 1_000 : false),
  });
  const wasNeverBuilt = reindex.error instanceof ApiError && reindex.error.kind === 'NotFoundError';
  return (
    <>
      <p className={layout['muted']}>{text.searchHelp}</p>
      {wasNeverBuilt ? (
        <p>{text.neverBuilt}</p>
      ) : (
        <QueryResult query={reindex}>
          {({ state, done, all, reason, finishedAt }) => (
            <p role="status">
              {state === 'running' && text.running(done, all)}
              {state === 'failed' && text.failed(reason ?? '')}
              {state === 'done' && (
                <>
                  {text.built(all)}, <Time at={finishedAt} />
                </>
              )}
            </p>
          )}
        </QueryResult>
      )}
      <div>
        <Button isDisabled={reindex.data?.state === 'running'} onPress={() => setConfirming(true)}>
          {text.reindex}
        </Button>
      </div>
      {isConfirming && (
        <ConfirmOperationDialog
          title={text.reindexTitle}
          confirm={text.reindex}
          operation={StartReindex}
          request={{}}
          notification={text.reindexStarted}
          onClose={() => setConfirming(false)}
        >
          <p>{text.reindexHelp}</p>
        </ConfirmOperationDialog>
      )}
    </>
  );
};

/** The installation: version, health, statistics, limits, event log, dead letters and search index. */
export const InstancePage = () => {
  const config = useQuery(operationQuery(GetUiConfig, {}));
  const mayCall = useMayCall();
  const isAdmin = mayCall(GetInstanceStatistics);
  const statistics = useQuery({ ...operationQuery(GetInstanceStatistics, {}), enabled: isAdmin });
  const saveCsv = async (): Promise<void> => {
    try {
      saveFile('statistics.csv', 'text/csv', await call(GetInstanceStatisticsCsv, {}));
    } catch (error) {
      notifyError(error);
    }
  };
  return (
    <AdminPage id="instance">
      <Section id="health" title={text.health}>
        <InstallationHealth />
      </Section>
      <Section id="facts" title={text.facts}>
        <QueryResult query={config}>{(data) => <Facts config={data} />}</QueryResult>
        <p className={layout['muted']}>{text.settingsHelp}</p>
      </Section>
      {isAdmin && (
        <>
          <Section
            id="statistics"
            title={text.statistics}
            action={<Button onPress={() => void saveCsv()}>{text.csv}</Button>}
          >
            <QueryResult query={statistics}>{(data) => <Statistics statistics={data} />}</QueryResult>
          </Section>
          <Section
            id="log"
            title={text.log}
            action={
              <span className={styles['badges']}>
                <Suspense>
                  <LogIntegrity />
                </Suspense>
                <Link to="/events" className={buttonClass()}>
                  {text.toLog}
                </Link>
              </span>
            }
          >
            <EventLog />
          </Section>
          <Section id="dead-letters" title={text.deadLetters}>
            <p className={layout['muted']}>{text.deadLettersHelp}</p>
            <DeadLetters />
          </Section>
          <Section id="search" title={text.search}>
            <SearchIndex />
          </Section>
        </>
      )}
      <Section id="limits" title={text.limits}>
        <QueryResult query={config}>
          {({ resourceLimits }) => <Limits limits={resourceLimits} statistics={statistics.data} />}
        </QueryResult>
      </Section>
    </AdminPage>
  );
};
