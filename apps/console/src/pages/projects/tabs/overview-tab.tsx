import { GetProjectStatus, type ProjectOverview, type ProjectStatus } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { serverNow } from '../../../api/server-clock.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { Loading, QueryResult } from '../../../components/content/query-result.tsx';
import { collaborationModes } from '../project-fields.tsx';
import { formatNumber } from '../../../text/format-number.ts';
import { ProjectHealth } from '../project-cell.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../projects.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { useOffersTab } from '../project-tabs.tsx';

const FirstSteps = lazy(() =>
  import('../../home/first-steps.tsx').then(({ FirstSteps: component }) => ({ default: component })),
);

const texts = {
  stages: {
    initial: 'Not used yet',
    preLive: 'Used, not in production',
    live: 'Live in production',
    completed: 'Completed',
    archived: 'Archived',
  },
} as const;

interface Fact {
  readonly label: string;
  readonly value: React.ReactNode;
}

function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className={styles['facts']}>
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{typeof value === 'number' ? formatNumber(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Tile({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <section className={styles['tile']} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** A number of the last 30 days, and that of the 30 days before. */
function ComparedNumbers({ current, before }: { readonly current: number; readonly before: number }) {
  return (
    <>
      {formatNumber(current)}
      {(current > 0 || before > 0) && <span className={styles['small']}> before: {formatNumber(before)}</span>}
    </>
  );
}

const weekMs = 7 * 86_400_000;
const weekCount = 12;

/** The number of events in each of the last weeks, the oldest first. The response has no entry for a day without events. */
function weeksOf(days: ProjectStatus['activityCountByDate'], now: number) {
  return Array.from({ length: weekCount }, (_, index) => {
    const start = now - (weekCount - index) * weekMs;
    const daysOfWeek = days.filter(({ date }) => Date.parse(date) > start && Date.parse(date) <= start + weekMs);
    return {
      from: new Date(start + 86_400_000).toISOString().slice(0, 10),
      count: daysOfWeek.reduce((sum, { count }) => sum + count, 0),
    };
  });
}

function Activity({ days }: { readonly days: ProjectStatus['activityCountByDate'] }) {
  const [now] = useState(serverNow);
  const weeks = weeksOf(days, now);
  const max = Math.max(...weeks.map(({ count }) => count));
  if (max === 0) return <p className={layout['muted']}>Nothing has changed.</p>;
  return (
    <ul className={styles['weeks']}>
      {weeks.map(({ from, count }) => (
        <li
          key={from}
          style={{ blockSize: `${(count / max) * 100}%` }}
          title={`${formatCount(count, 'change')} in the week from ${from}`}
        >
          <span className="visually-hidden">
            {formatCount(count, 'change')} in the week from {from}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Contents({ id, resources }: { readonly id: string; readonly resources: ProjectStatus['resources'] }) {
  const offersTab = useOffersTab(id);
  const link = (tab: 'access' | 'tokens' | 'segments', label: string) =>
    offersTab(tab) ? (
      <Link to="/projects/$project/$tab" params={{ project: id, tab }}>
        {label}
      </Link>
    ) : (
      label
    );
  return (
    <Tile title="Contains">
      <ul>
        <li>{link('access', formatCount(resources.members, 'member'))}</li>
        <li>{link('tokens', formatCount(resources.apiTokens, 'API token'))}</li>
        <li>{link('segments', formatCount(resources.segments, 'segment'))}</li>
      </ul>
    </Tile>
  );
}

function Status({ id, status }: { readonly id: string; readonly status: ProjectStatus }) {
  const { lifecycleSummary: stages, staleFlags, resources, activityCountByDate } = status;
  return (
    <>
      <Tile title="Lifecycle">
        <Facts
          facts={Object.entries(texts.stages).map(([stage, label]) => ({
            label,
            value: stages[stage as keyof typeof stages].currentFlags,
          }))}
        />
        {staleFlags.total === 0 ? (
          <p className={styles['small']}>No flag is stale.</p>
        ) : (
          <Link to="/projects/$project/flags" params={{ project: id }} search={{ q: 'state:stale' }}>
            {formatCount(staleFlags.total, 'stale flag')}
          </Link>
        )}
      </Tile>
      <Contents id={id} resources={resources} />
      <Tile title="Changes in the last 12 weeks">
        <Activity days={activityCountByDate} />
      </Tile>
    </>
  );
}

interface ProjectOverviewTabProps {
  readonly id: string;
  readonly overview: ProjectOverview;
}

/** How many flags a project has that are not archived. */
export function flagCountOf({ featureTypeCounts }: ProjectOverview): number {
  return featureTypeCounts.reduce((sum, { count }) => sum + count, 0);
}

/** The first tab of a project: its health, statistics, activity and rules; without flags, what to do first. */
export function ProjectOverviewTab({ id, overview }: ProjectOverviewTabProps) {
  const status = useQuery(operationQuery(GetProjectStatus, { params: { projectId: id } }));
  const { description, stats, health, featureTypeCounts, featureNaming, featureLimit, mode, defaultStickiness } =
    overview;
  const flagCount = flagCountOf(overview);
  // What is typed into the dialog of the first flag stays while another person creates one.
  const [isBeginning] = useState(flagCount === 0);
  const owners = (overview.owners ?? []).filter(({ ownerType }) => ownerType !== 'system');
  const settings = (
    <Tile title="Settings">
      <Facts
        facts={[
          { label: 'Access', value: collaborationModes[mode][0] },
          { label: 'Default stickiness', value: defaultStickiness },
          { label: 'Pattern of names', value: featureNaming?.pattern ?? 'none' },
          { label: 'Limit of flags', value: featureLimit ?? 'none' },
          ...(owners.length === 0
            ? []
            : [{ label: 'Owners', value: owners.map(({ name, email }) => name ?? email).join(', ') }]),
        ]}
      />
    </Tile>
  );
  if (isBeginning)
    return (
      <div className={layout['stack']}>
        {description != null && description !== '' && <p dir="auto">{description}</p>}
        <Suspense fallback={<Loading />}>
          <FirstSteps project={id} hasFlag={flagCount > 0} hasApplication={false} />
        </Suspense>
        <div className={styles['tiles']}>
          {settings}
          <QueryResult query={status}>{({ resources }) => <Contents id={id} resources={resources} />}</QueryResult>
        </div>
      </div>
    );
  return (
    <div className={layout['stack']}>
      {description != null && description !== '' && <p dir="auto">{description}</p>}
      <div className={styles['tiles']}>
        <Tile title="Health">
          <p className={styles['figure']}>
            <ProjectHealth percent={health} flagCount={flagCount} />
          </p>
          <p className={styles['small']}>The share of flags that are not stale</p>
        </Tile>
        {stats !== undefined && (
          <Tile title="Last 30 days">
            <Facts
              facts={[
                {
                  label: 'Flags created',
                  value: <ComparedNumbers current={stats.createdCurrentWindow} before={stats.createdPastWindow} />,
                },
                {
                  label: 'Flags archived',
                  value: <ComparedNumbers current={stats.archivedCurrentWindow} before={stats.archivedPastWindow} />,
                },
                { label: 'Members added', value: stats.projectMembersAddedCurrentWindow },
                {
                  label: 'Days from creation to production, on average',
                  // The server says 0 where no flag has come to production.
                  value: Math.round(stats.avgTimeToProdCurrentWindow * 10) / 10 || '–',
                },
              ]}
            />
          </Tile>
        )}
        <Tile title="Flags by type">
          {featureTypeCounts.length === 0 ? (
            <p className={layout['muted']}>There are no flags yet.</p>
          ) : (
            <Facts facts={featureTypeCounts.map(({ type, count }) => ({ label: type, value: count }))} />
          )}
        </Tile>
        {settings}
        <QueryResult query={status}>{(data) => <Status id={id} status={data} />}</QueryResult>
      </div>
    </div>
  );
}
