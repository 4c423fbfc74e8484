import {
  GetProjectOverview,
  GetProjectStatus,
  lifecycleStageOfMember,
  type ProjectOverview,
  type ProjectStatus,
  SearchChangeRequests,
  SearchEvents,
} from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useEventBatches } from '../../../api/event-feed.ts';
import { operationKey, operationQuery } from '../../../api/queries-and-mutations.ts';
import { serverNow } from '../../../api/server-clock.ts';
import { Loading, QueryResult } from '../../../components/content/query-result.tsx';
import layout from '../../../components/layout/layout.module.css';
import { formatCount, formatNumber } from '../../../text/format-number.ts';
import { StateBadge } from '../../change-requests/state-badge.tsx';
import { useChangedInProject, useRequests } from '../../home/home-queries.ts';
import { ChangeItem, RequestItem, Section } from '../../home/sections.tsx';
import { flagCountOf } from '../project-cell.tsx';
import { collaborationModes } from '../project-fields.tsx';
import { useOffersTab } from '../project-tabs.tsx';
import styles from './overview.module.css';
import { lazyPart } from '../../../components/content/lazy-part.tsx';

const FirstSteps = lazyPart(() => import('../../home/first-steps.tsx').then(({ FirstSteps }) => FirstSteps));

const texts = {
  /** in the order of the life of a flag */
  stages: {
    initial: 'Not used yet',
    preLive: 'Used, not in production',
    live: 'Live in production',
    completed: 'Completed',
  },
} as const;

type Stages = ProjectStatus['lifecycleSummary'];

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

function Aside({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <section className={styles['aside']} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: React.ReactNode;
  /** what the number is out of, or was before */
  readonly note?: string;
}

function Figure({ label, value, note }: FigureProps) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span className={styles['value']}>{typeof value === 'number' ? formatNumber(value) : value}</span>
        {note !== undefined && <span className={styles['note']}>{note}</span>}
      </dd>
    </div>
  );
}

interface FiguresProps {
  readonly id: string;
  readonly overview: ProjectOverview;
  readonly status: ProjectStatus | undefined;
}

/** The numbers that one reads first. */
function Figures({ id, overview: { stats, health, ...overview }, status }: FiguresProps) {
  const flagCount = flagCountOf(overview);
  const stale = status?.staleFlags.total;
  return (
    <section aria-label="At a glance">
      <dl className={styles['figures']}>
        <Figure
          label="Flags"
          value={
            <Link to="/projects/$project/flags" params={{ project: id }}>
              {formatNumber(flagCount)}
            </Link>
          }
          {...(stats !== undefined && { note: `${formatNumber(stats.createdCurrentWindow)} new in 30 days` })}
        />
        <Figure
          label={texts.stages.live}
          value={
            status === undefined ? (
              '…'
            ) : (
              <CountInStage id={id} stage="live" count={status.lifecycleSummary.live.currentFlags} />
            )
          }
          note={`of ${formatNumber(flagCount)}`}
        />
        <Figure
          label="Stale"
          value={
            stale === undefined || stale === 0 ? (
              (stale ?? '…')
            ) : (
              <Link to="/projects/$project/flags" params={{ project: id }} search={{ q: 'state:stale' }}>
                {formatNumber(stale)}
              </Link>
            )
          }
          note={stale === 0 ? 'nothing to clean up' : 'may be removed'}
        />
        <Figure label="Health" value={flagCount === 0 ? '–' : `${health} %`} note="of the flags are not stale" />
      </dl>
    </section>
  );
}

interface CountInStageProps {
  readonly id: string;
  readonly stage: keyof typeof texts.stages;
  readonly count: number;
}

/** How many flags of a project are in a stage, with the list of them. */
function CountInStage({ id, stage, count }: CountInStageProps) {
  const shown = formatNumber(count);
  if (count === 0) return shown;
  return (
    <Link
      to="/projects/$project/flags"
      params={{ project: id }}
      search={{ q: `stage:${lifecycleStageOfMember[stage]}` }}
    >
      {shown}
    </Link>
  );
}

interface LifecycleProps {
  readonly id: string;
  readonly stages: Stages;
  readonly children: React.ReactNode;
}

/** How many flags are in each stage, as one bar and in digits. */
function Lifecycle({ id, stages, children }: LifecycleProps) {
  const all = (Object.keys(texts.stages) as (keyof typeof texts.stages)[]).map((stage) => ({
    stage,
    label: texts.stages[stage],
    count: stages[stage].currentFlags,
  }));
  return (
    <Aside title="Lifecycle">
      <div className={styles['bar']} aria-hidden="true">
        {all.map(
          ({ stage, count }) => count > 0 && <span key={stage} data-stage={stage} style={{ flexGrow: count }} />,
        )}
      </div>
      <dl className={styles['facts']}>
        {all.map(({ stage, label, count }) => (
          <div key={stage} data-stage={stage}>
            <dt>{label}</dt>
            <dd>
              <CountInStage id={id} stage={stage} count={count} />
            </dd>
          </div>
        ))}
      </dl>
      {children}
    </Aside>
  );
}

/** How many flags there are of each type, each with the list of them. */
function Types({ id, types }: { readonly id: string; readonly types: ProjectOverview['featureTypeCounts'] }) {
  return (
    <ul className={`${styles['note']} ${styles['types']}`} aria-label="Flags by type">
      {types.map(({ type, count }) => (
        <li key={type}>
          <Link to="/projects/$project/flags" params={{ project: id }} search={{ q: `type:${type}` }}>
            {formatNumber(count)} {type}
          </Link>
        </li>
      ))}
    </ul>
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

/** A number in the width of a bar. */
const compact = new Intl.NumberFormat(undefined, { numberingSystem: 'latn', notation: 'compact' });
const dayName = new Intl.DateTimeFormat(undefined, { numberingSystem: 'latn', dateStyle: 'medium', timeZone: 'UTC' });

interface Bar {
  /** when it was, in words */
  readonly when: string;
  readonly height: number;
  /** the number over the bar; empty where there is none */
  readonly number: string;
  /** what it stands for */
  readonly text: string;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** what is read over the columns of the table */
  readonly heads: readonly [when: string, what: string];
}

/** Bars side by side, the highest of which fills the height, each with its number; the same is read as a table. */
function Bars({ bars, heads }: BarsProps) {
  const max = Math.max(...bars.map(({ height }) => height));
  return (
    <div>
      <ul className={styles['weeks']} aria-hidden="true">
        {bars.map(({ when, height, number, text }) => (
          <li key={when} title={`${when}: ${text}`}>
            <span>{number}</span>
            <div style={{ flexGrow: height / max }} />
          </li>
        ))}
      </ul>
      <p className={styles['ends']} aria-hidden="true">
        {[bars.at(0), bars.at(-1)].map((bar, nth) => (
          <span key={nth}>{bar?.when}</span>
        ))}
      </p>
      <div className="visually-hidden">
        <table>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ when, text }) => (
              <tr key={when}>
                <th scope="row">{when}</th>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Days with one decimal in words: 0 is what is rounded to it, up to 72 minutes. */
function inDays(days: number): string {
  return days === 0 ? 'less than two hours' : formatCount(days, 'day');
}

/** How long flags take from their creation until they are on in production, month by month, and whether that becomes shorter. */
function TimeToProduction({ months }: { readonly months: NonNullable<ProjectStatus['timeToProduction']> }) {
  const monthName = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const delivered = months.filter(({ medianDays }) => medianDays !== null);
  const [last, before] = delivered.toReversed();
  if (last === undefined) return <p className={layout['muted']}>No flag has come to production.</p>;
  const nameOf = (month: string): string => monthName.format(new Date(`${month}-01`));
  return (
    <>
      <p>
        {nameOf(last.month)}: {inDays(last.medianDays ?? 0)}
        {before !== undefined && (
          <span className={styles['note']}>
            {' '}
            before, in {nameOf(before.month)}: {inDays(before.medianDays ?? 0)}
          </span>
        )}
      </p>
      <Bars
        heads={['Month', 'Days to production']}
        bars={months.map(({ month, features, medianDays }) => ({
          when: nameOf(month),
          // What took less than an hour can be seen as well.
          height: medianDays === null ? 0 : Math.max(medianDays, 0.1),
          number: medianDays === null ? '' : medianDays === 0 ? `<${compact.format(0.1)}` : compact.format(medianDays),
          text:
            medianDays === null ? 'no flag' : `${inDays(medianDays)}, the median of ${formatCount(features, 'flag')}`,
        }))}
      />
    </>
  );
}

function Activity({ days }: { readonly days: ProjectStatus['activityCountByDate'] }) {
  const [now] = useState(serverNow);
  const weeks = weeksOf(days, now);
  if (weeks.every(({ count }) => count === 0)) return <p className={layout['muted']}>Nothing has changed.</p>;
  return (
    <Bars
      heads={['Week from', 'Changes']}
      bars={weeks.map(({ from, count }) => ({
        when: dayName.format(new Date(from)),
        height: count,
        number: compact.format(count),
        text: formatCount(count, 'change'),
      }))}
    />
  );
}

interface AboutProps {
  readonly id: string;
  readonly overview: ProjectOverview;
  readonly resources: ProjectStatus['resources'] | undefined;
}

/** Whose project it is, what it contains, and its rules, those that are set. */
function About({ id, overview, resources }: AboutProps) {
  const { featureNaming, featureLimit, mode, defaultStickiness } = overview;
  const owners = (overview.owners ?? []).filter(({ ownerType }) => ownerType !== 'system');
  const offersTab = useOffersTab(id);
  const link = (tab: 'access' | 'tokens' | 'segments', label: string) => (
    <li>
      {offersTab(tab) ? (
        <Link to="/projects/$project/$tab" params={{ project: id, tab }}>
          {label}
        </Link>
      ) : (
        label
      )}
    </li>
  );
  return (
    <Aside title="About">
      {resources !== undefined && (
        <ul className={styles['contents']}>
          {link('access', formatCount(resources.members, 'member'))}
          {link('tokens', formatCount(resources.apiTokens, 'API token'))}
          {link('segments', formatCount(resources.segments, 'segment'))}
        </ul>
      )}
      <Facts
        facts={[
          ...(owners.length === 0
            ? []
            : [
                {
                  label: owners.length === 1 ? 'Owner' : 'Owners',
                  value: owners.map(({ name, email }) => name ?? email).join(', '),
                },
              ]),
          { label: 'Access', value: collaborationModes[mode][0] },
          ...(defaultStickiness === 'default' ? [] : [{ label: 'Default stickiness', value: defaultStickiness }]),
          ...(featureNaming?.pattern == null
            ? []
            : [{ label: 'Pattern of names', value: <code>{featureNaming.pattern}</code> }]),
          ...(featureLimit == null ? [] : [{ label: 'Limit of flags', value: featureLimit }]),
        ]}
      />
    </Aside>
  );
}

function LastMonth({ stats }: { readonly stats: NonNullable<ProjectOverview['stats']> }) {
  const compared = (current: number, before: number) => (
    <>
      {formatNumber(current)}
      {(current > 0 || before > 0) && <span className={styles['note']}> before: {formatNumber(before)}</span>}
    </>
  );
  return (
    <Facts
      facts={[
        { label: 'Flags created', value: compared(stats.createdCurrentWindow, stats.createdPastWindow) },
        { label: 'Flags archived', value: compared(stats.archivedCurrentWindow, stats.archivedPastWindow) },
        { label: 'Members added', value: stats.projectMembersAddedCurrentWindow },
      ]}
    />
  );
}

/** What waits, and what others have changed for users. */
function News({ id, environments }: { readonly id: string; readonly environments: readonly string[] }) {
  const open = useRequests('open', id);
  const changed = useChangedInProject(id, environments);
  return (
    <div className={layout['column']}>
      <Section
        title="Open change requests"
        query={open}
        none="No change waits for a review, or to be applied."
        more={
          <Link to="/projects/$project/change-requests" params={{ project: id }}>
            Show all
          </Link>
        }
      >
        {(request) => (
          <RequestItem
            key={request.id}
            request={request}
            isOfProject
            end={<StateBadge state={request.state} schedule={request.schedule} />}
          />
        )}
      </Section>
      {changed.environments.length > 0 && (
        <Section
          title="Last changed in production"
          query={changed.query}
          none="Nothing has changed in production yet."
          more={
            <Link
              to="/projects/$project/events"
              params={{ project: id }}
              search={{ q: changed.environments.map((name) => `environment:${name}`).join(' ') }}
            >
              Show all
            </Link>
          }
        >
          {(event) => (
            <ChangeItem key={event.id} event={event} namesEnvironment={changed.environments.length > 1} isOfProject />
          )}
        </Section>
      )}
    </div>
  );
}

interface ProjectOverviewTabProps {
  readonly id: string;
  readonly overview: ProjectOverview;
}

/** Milliseconds between two reads of the page after events: the server counts all flags of the project for it. */
const readAgainMs = 10_000;

/** The first tab of a project: what waits and what has changed beside how it is; without flags, what to do first. */
export function ProjectOverviewTab({ id, overview }: ProjectOverviewTabProps) {
  const status = useQuery(operationQuery(GetProjectStatus, { params: { projectId: id } }));
  const { description, stats, featureTypeCounts } = overview;
  const flagCount = flagCountOf(overview);
  // What is typed into the dialog of the first flag stays while another person creates one.
  const [isBeginning] = useState(flagCount === 0);
  const client = useQueryClient();
  useEventBatches(
    ({ project }) => project === id,
    () =>
      Promise.all(
        [GetProjectOverview, GetProjectStatus, SearchChangeRequests, SearchEvents].map((operation) =>
          client.invalidateQueries({ queryKey: operationKey(operation) }),
        ),
      ),
    readAgainMs,
  );
  const about = <About id={id} overview={overview} resources={status.data?.resources} />;
  const described = description != null && description !== '' && <p dir="auto">{description}</p>;
  if (isBeginning)
    return (
      <div className={layout['stack']}>
        {described}
        <Suspense fallback={<Loading />}>
          <FirstSteps project={id} hasFlag={flagCount > 0} hasApplication={false} />
        </Suspense>
        <div className={styles['alone']}>{about}</div>
      </div>
    );
  return (
    <div className={layout['stack']}>
      {described}
      <Figures id={id} overview={overview} status={status.data} />
      <div className={layout['columns']}>
        <News id={id} environments={overview.environments.map(({ environment }) => environment)} />
        <div className={layout['column']}>
          <QueryResult query={status}>
            {({ lifecycleSummary, activityCountByDate, timeToProduction }) => (
              <>
                <Lifecycle id={id} stages={lifecycleSummary}>
                  <Types id={id} types={featureTypeCounts} />
                </Lifecycle>
                <Aside title="Changes in the last 12 weeks">
                  <Activity days={activityCountByDate} />
                </Aside>
                {timeToProduction !== undefined && (
                  <Aside title="From creation to production">
                    <TimeToProduction months={timeToProduction} />
                  </Aside>
                )}
              </>
            )}
          </QueryResult>
          {stats !== undefined && (
            <Aside title="Last 30 days">
              <LastMonth stats={stats} />
            </Aside>
          )}
          {about}
        </div>
      </div>
    </div>
  );
}
