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
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { call } from '../../api/call.ts';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { basePath } from '../../base-path.ts';
import { lazyPart } from '../../components/content/lazy-part.tsx';
import { ConfirmOperationDialog } from '../../components/dialogs/confirm-operation-dialog.tsx';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { Table } from '../../components/content/table.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { useMayCall } from '../../api/permissions.ts';
import { ResourceList } from '../../components/resources/resource-list.tsx';
import { Time } from '../../components/content/time.tsx';
import { notifyError } from '../../shell/toasts.tsx';
import { AdminPage } from './admin-page.tsx';
import { saveFile } from './transfer/export-file.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './people/people.module.css';
import { formatNumber } from '../../text/format-number.ts';
import { formatCount } from '../../text/format-number.ts';

const texts = {
  counts: {
    featureToggles: 'Active flags',
    archivedFeatureToggles: 'Archived flags',
    projects: 'Projects',
    environments: 'Environments',
    segments: 'Segments',
    contextFields: 'Context fields',
    strategies: 'Strategy types',
    users: 'Users',
    groups: 'Groups',
    roles: 'Roles',
    serviceAccounts: 'Service accounts',
    featureExports: 'Exports',
    featureImports: 'Imports',
  },
  formatNumber: formatNumber,
  limitNames: {
    featureFlags: 'Active flags',
    projects: 'Projects',
    environments: 'Environments',
    segments: 'Segments',
    apiTokens: 'API tokens',
    featureEnvironmentStrategies: 'Strategies of a flag in an environment',
    constraints: 'Constraints of a strategy',
    constraintValues: 'Values of a constraint',
    strategySegments: 'Segments of a strategy',
    segmentValues: 'Values of a segment',
  },
} as const;

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** A number of bytes as text, in the largest unit that fits. Units are powers of 1,000. */
function bytesText(bytes: number): string {
  const exponent = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${formatNumber(Math.round((bytes / 1000 ** exponent) * 10) / 10)} ${units[exponent]}`;
}

const LogIntegrity = lazyPart(async () => (await import('../events/log-integrity.tsx')).LogIntegrity);

interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly action?: React.ReactNode;
  readonly children: React.ReactNode;
}

function Section({ id, title, action, children }: SectionProps) {
  return (
    <section className={layout['section']} aria-labelledby={id}>
      <div className={layout['bar']}>
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  );
}

function onOff(isOn: boolean): string {
  return isOn ? 'on' : 'off';
}

function Facts({ config }: { readonly config: UiConfig }) {
  return (
    <dl className={styles['pairs']}>
      {[
        ['Version', `${config.name} ${config.version}`],
        ['API of Unleash', config.versionInfo.current.oss],
        ['Installation id', config.versionInfo.instanceId],
        ['Address of the console', config.unleashUrl || 'not set: GATEWAY_PUBLIC_URL'],
        [
          'Origins of the frontend API',
          config.frontendApiOrigins.includes('*') ? 'every origin' : config.frontendApiOrigins.join(', ') || 'nothing',
        ],
        ['Mail server', config.emailEnabled ? 'set' : 'not set: SMTP_URL'],
        ['Single sign-on', config.oidcConfiguredThroughEnv ? 'set by OIDC_* variables' : 'set here'],
        ['Passwords', onOff(!config.disablePasswordAuth)],
        ['Reports to others', 'nothing'],
      ].map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface Readiness {
  readonly isReady: boolean;
  readonly reason: string;
  /** the dependencies that are unavailable, but without which the gateway can still serve */
  readonly unavailable: readonly string[];
}

/** Reads the readiness of the gateway, which needs no credentials. A response with status 503 has a body with the reason, too. */
async function readReadiness({ signal }: { readonly signal: AbortSignal }): Promise<Readiness> {
  const response = await fetch(`${basePath}/health/ready`, { signal, cache: 'no-store' });
  const body = (await response.json()) as { readonly reason?: unknown; readonly unavailable?: readonly string[] };
  const reason = typeof body.reason === 'string' ? body.reason : String(response.status);
  return { isReady: response.ok, reason, unavailable: body.unavailable ?? [] };
}

function ReadinessBadge({ isReady, reason, unavailable }: Readiness) {
  if (!isReady) return <Badge tone="danger">Not ready: {reason}</Badge>;
  if (unavailable.length > 0)
    return (
      <Badge tone="warning">
        Without {unavailable.join(' and ')}: applications get the flags that were known last, and nothing can be
        changed.
      </Badge>
    );
  return <Badge tone="good">Ready: every service answers, and nothing is behind.</Badge>;
}

function InstallationHealth() {
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
          <p className={layout['muted']}>Checked every five seconds while this page is open.</p>
        </>
      )}
    </QueryResult>
  );
}

function Statistics({ statistics }: { readonly statistics: InstanceStatistics }) {
  const counts = Object.entries(texts.counts).map(
    ([name, label]) => [label, statistics[name as keyof typeof texts.counts]] as const,
  );
  return (
    <dl className={styles['facts']}>
      {[
        ...counts,
        ['Users in 30 days', statistics.activeUsers.last30] as const,
        ['Applications in 30 days', statistics.clientApps.find(({ range }) => range === '30d')?.count ?? 0] as const,
        ['Changes in production in 30 days', statistics.productionChanges.last30] as const,
      ].map(([label, n]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{texts.formatNumber(n)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The number of existing things that a limit counts; undefined for a limit that holds for each flag, strategy or segment. */
function usedCountOf(name: string, statistics: InstanceStatistics | undefined): number | undefined {
  if (statistics === undefined) return undefined;
  const { apiTokens, featureToggles, projects, environments, segments } = statistics;
  const tokenCount = apiTokens.admin + apiTokens.client + apiTokens.frontend;
  return { featureFlags: featureToggles, projects, environments, segments, apiTokens: tokenCount }[name];
}

interface LimitsProps {
  readonly limits: ResourceLimits;
  readonly statistics: InstanceStatistics | undefined;
}

function Limits({ limits, statistics }: LimitsProps) {
  return (
    <Table
      label="Limits"
      rows={Object.entries(texts.limitNames).map(([name, label]) => ({
        name,
        label,
        limit: limits[name as keyof typeof texts.limitNames],
        used: usedCountOf(name, statistics),
      }))}
      rowKey={({ name }) => name}
      columns={[
        { title: 'Limit', cell: ({ label }) => label },
        {
          title: 'Used',
          isNumber: true,
          cell: ({ used, limit }) => {
            if (used === undefined) return null;
            const text = texts.formatNumber(used);
            return used >= limit * 0.9 ? <Badge tone="warning">{text}</Badge> : text;
          },
        },
        {
          title: 'At most',
          isNumber: true,
          cell: ({ limit }) => (limit >= noLimit ? 'no limit' : texts.formatNumber(limit)),
        },
      ]}
    />
  );
}

function EventLog() {
  const size = useQuery(operationQuery(GetEventLogSize, {}));
  return (
    <QueryResult query={size}>
      {({ events, bytes, oldest, retentionDays }) => (
        <p>
          {`${formatCount(events, 'event')}, ${bytesText(bytes.total)}`}.{' '}
          {oldest !== null && (
            <>
              The oldest is of <Time at={oldest} isAbsolute />.{' '}
            </>
          )}
          {retentionDays === null
            ? 'Events are kept for ever.'
            : `Events are kept for ${formatCount(retentionDays, 'day')}.`}
        </p>
      )}
    </QueryResult>
  );
}

function DeadLetters() {
  const letters = useQuery({ ...operationQuery(CollectDeadLetters, {}), refetchInterval: 30_000 });
  const unanswered = letters.data?.unanswered ?? [];
  return (
    <>
      {unanswered.length > 0 && (
        <Notice tone="warning">
          {unanswered.join(', ')} did not answer, so it is not known whether there are more.
        </Notice>
      )}
      <ResourceList
        label="Dead letters"
        parameter="letter"
        renderAbove={() => (
          <p className={layout['muted']}>
            Messages that a service could not apply because of their content. It tries again by itself, with growing
            pauses and at each start.
          </p>
        )}
        query={{ ...letters, data: letters.data?.deadLetters }}
        rowKey={({ service, uid }) => `${service} ${uid}`}
        name={({ type }) => type}
        text={({ service, producer, reason }) => `${service} ${producer} ${reason}`}
        columns={[
          { title: 'Service', cell: ({ service }) => service },
          {
            title: 'Message',
            cell: ({ type, producer, position }) => (
              <div className={styles['twoLines']}>
                <code>{type}</code>
                <span>
                  from {producer}, position {formatNumber(position)}
                </span>
              </div>
            ),
          },
          { title: 'Reason', cell: ({ reason }) => reason },
          { title: 'Attempts', cell: ({ attempts }) => attempts, isNumber: true },
          { title: 'Next attempt', cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} /> },
        ]}
        empty={{
          title: 'Every message was applied',
          help: 'What a service cannot apply because of its content is listed here, with the reason.',
        }}
      />
    </>
  );
}

function SearchIndex() {
  const [isConfirming, setConfirming] = useState(false);
  const reindex = useQuery({
    ...operationQuery(GetReindexStatus, {}),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? 1_000 : false),
  });
  return (
    <>
      <p className={layout['muted']}>
        Searches answer from an index that follows the flags. Building it again costs some load, and searches go on
        meanwhile.
      </p>
      <QueryResult query={reindex}>
        {({ state, done, all, reason, finishedAt }) => (
          <p role="status">
            {state === 'none' && 'It has not been built again since the start.'}
            {state === 'running' && `Building: ${formatNumber(done)} of ${formatNumber(all)}`}
            {state === 'failed' && `Building it has failed: ${reason ?? ''}`}
            {state === 'done' && (
              <>
                {`Built with ${formatCount(all, 'flag or segment', 'flags and segments')}`}, <Time at={finishedAt} />
              </>
            )}
          </p>
        )}
      </QueryResult>
      <div>
        <Button isDisabled={reindex.data?.state === 'running'} onPress={() => setConfirming(true)}>
          Build it again
        </Button>
      </div>
      {isConfirming && (
        <ConfirmOperationDialog
          title="Build the search index again?"
          confirm="Build it again"
          operation={StartReindex}
          request={{}}
          notification="The search index is being built."
          onClose={() => setConfirming(false)}
        >
          <p>All flags and segments are read and written again, in the background. Searches go on meanwhile.</p>
        </ConfirmOperationDialog>
      )}
    </>
  );
}

/** The installation: version, health, statistics, limits, event log, dead letters and search index. */
export function InstancePage() {
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
      <Section id="health" title="Health">
        <InstallationHealth />
      </Section>
      <Section id="facts" title="Version and address">
        <QueryResult query={config}>{(data) => <Facts config={data} />}</QueryResult>
        <p className={layout['muted']}>
          Further settings are variables of the processes; docs/settings.md lists all of them.
        </p>
      </Section>
      {isAdmin && (
        <>
          <Section
            id="statistics"
            title="Statistics"
            action={<Button onPress={() => void saveCsv()}>Save as CSV</Button>}
          >
            <QueryResult query={statistics}>{(data) => <Statistics statistics={data} />}</QueryResult>
          </Section>
          <Section
            id="log"
            title="Event log"
            action={
              <span className={styles['badges']}>
                <Suspense>
                  <LogIntegrity />
                </Suspense>
                <Link to="/events" className={buttonClass()}>
                  Open the event log
                </Link>
              </span>
            }
          >
            <EventLog />
          </Section>
          <Section id="dead-letters" title="Dead letters">
            <DeadLetters />
          </Section>
          <Section id="search" title="Search index">
            <SearchIndex />
          </Section>
        </>
      )}
      <Section id="limits" title="Limits">
        <QueryResult query={config}>
          {({ resourceLimits }) => <Limits limits={resourceLimits} statistics={statistics.data} />}
        </QueryResult>
      </Section>
    </AdminPage>
  );
}
