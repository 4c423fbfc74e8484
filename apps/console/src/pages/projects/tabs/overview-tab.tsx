import { GetProjectStatus, type ProjectOverview, type ProjectStatus } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { projectsMessages as text } from '../../../messages/projects.ts';
import { formatNumber } from '../../../messages/format-number.ts';
import { ProjectHealth } from '../project-health.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../projects.module.css';

interface Fact {
  readonly label: string;
  readonly value: React.ReactNode;
}

const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className={styles['facts']}>
    {facts.map(({ label, value }) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>{typeof value === 'number' ? formatNumber(value) : value}</dd>
      </div>
    ))}
  </dl>
);

const Tile = ({ title, children }: { readonly title: string; readonly children: React.ReactNode }) => (
  <section className={styles['tile']} aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

/** A number of the last 30 days, and that of the 30 days before. */
const ComparedNumbers = ({ current, before }: { readonly current: number; readonly before: number }) => (
  <>
    {formatNumber(current)} <span className={styles['small']}>{text.before(before)}</span>
  </>
);

const weekMs = 7 * 86_400_000;
const weekCount = 12;

/** The number of events in each of the last weeks, the oldest first. The response has no entry for a day without events. */
const weeksOf = (days: ProjectStatus['activityCountByDate'], now: number) =>
  Array.from({ length: weekCount }, (_, index) => {
    const start = now - (weekCount - index) * weekMs;
    const daysOfWeek = days.filter(({ date }) => Date.parse(date) > start && Date.parse(date) <= start + weekMs);
    return {
      from: new Date(start + 86_400_000).toISOString().slice(0, 10),
      count: daysOfWeek.reduce((sum, { count }) => sum + count, 0),
    };
  });

const Activity = ({ days }: { readonly days: ProjectStatus['activityCountByDate'] }) => {
  const [now] = useState(() => Date.now());
  const weeks = weeksOf(days, now);
  const max = Math.max(1, ...weeks.map(({ count }) => count));
  return (
    <ul className={styles['weeks']}>
      {weeks.map(({ from, count }) => (
        <li key={from} style={{ blockSize: `${(count / max) * 100}%` }} title={text.activityOn(count, from)}>
          <span className="visually-hidden">{text.activityOn(count, from)}</span>
        </li>
      ))}
    </ul>
  );
};

const Status = ({ id, status }: { readonly id: string; readonly status: ProjectStatus }) => {
  const { lifecycleSummary: stages, staleFlags, resources, activityCountByDate } = status;
  const link = (tab: string, label: string) => (
    <Link to="/projects/$project/$tab" params={{ project: id, tab }}>
      {label}
    </Link>
  );
  return (
    <>
      <Tile title={text.lifecycle}>
        <Facts
          facts={Object.entries(text.stages).map(([stage, label]) => ({
            label,
            value: stages[stage as keyof typeof stages].currentFlags,
          }))}
        />
        {staleFlags.total === 0 ? (
          <p className={styles['small']}>{text.noStale}</p>
        ) : (
          <Link to="/projects/$project/flags" params={{ project: id }} search={{ q: 'state:stale' }}>
            {text.stale(staleFlags.total)}
          </Link>
        )}
      </Tile>
      <Tile title={text.resources}>
        <ul>
          <li>{link('access', text.memberCount(resources.members))}</li>
          <li>{link('tokens', text.tokens(resources.apiTokens))}</li>
          <li>{link('segments', text.segments(resources.segments))}</li>
        </ul>
      </Tile>
      <Tile title={text.activity}>
        <Activity days={activityCountByDate} />
      </Tile>
    </>
  );
};

interface ProjectOverviewTabProps {
  readonly id: string;
  readonly overview: ProjectOverview;
}

/** The first tab of a project: its health, statistics, activity and rules. */
export const ProjectOverviewTab = ({ id, overview }: ProjectOverviewTabProps) => {
  const status = useQuery(operationQuery(GetProjectStatus, { params: { projectId: id } }));
  const { description, stats, health, featureTypeCounts, featureNaming, featureLimit, mode, defaultStickiness } =
    overview;
  const owners = (overview.owners ?? []).filter(({ ownerType }) => ownerType !== 'system');
  return (
    <div className={layout['stack']}>
      {description != null && description !== '' && <p dir="auto">{description}</p>}
      <div className={styles['tiles']}>
        <Tile title={text.health}>
          <p className={styles['figure']}>
            <ProjectHealth percent={health} />
          </p>
          <p className={styles['small']}>{text.healthHint}</p>
        </Tile>
        {stats !== undefined && (
          <Tile title={text.in30Days}>
            <Facts
              facts={[
                {
                  label: text.flagsCreated,
                  value: <ComparedNumbers current={stats.createdCurrentWindow} before={stats.createdPastWindow} />,
                },
                {
                  label: text.flagsArchived,
                  value: <ComparedNumbers current={stats.archivedCurrentWindow} before={stats.archivedPastWindow} />,
                },
                { label: text.membersAdded, value: stats.projectMembersAddedCurrentWindow },
                { label: text.toProduction, value: Math.round(stats.avgTimeToProdCurrentWindow * 10) / 10 },
              ]}
            />
          </Tile>
        )}
        <Tile title={text.types}>
          {featureTypeCounts.length === 0 ? (
            <p className={layout['muted']}>{text.noFlags}</p>
          ) : (
            <Facts facts={featureTypeCounts.map(({ type, count }) => ({ label: type, value: count }))} />
          )}
        </Tile>
        <Tile title={text.rules}>
          <Facts
            facts={[
              { label: text.mode, value: text.modes[mode][0] },
              { label: text.stickiness, value: defaultStickiness },
              { label: text.naming, value: featureNaming?.pattern ?? text.any },
              { label: text.limit, value: featureLimit ?? text.noLimit },
              ...(owners.length === 0
                ? []
                : [{ label: text.owners, value: owners.map(({ name, email }) => name ?? email).join(', ') }]),
            ]}
          />
        </Tile>
        <QueryResult query={status}>{(data) => <Status id={id} status={data} />}</QueryResult>
      </div>
    </div>
  );
};
