import {
  type Event,
  type Feature,
  GetUsageHistory,
  SearchEvents,
  type UsageHistory,
  type UsageRange,
  usageRanges,
} from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { shownEnvironments, useEnvironmentPreference } from '../../components/environments/environment-preference.ts';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { EventSummary } from '../../components/content/event-summary.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { formatDateAndTime, Time } from '../../components/content/time.tsx';
import layout from '../../components/layout/layout.module.css';
import { reachChangingTypes } from '../../text/event-words.ts';
import { shortSummary } from '../../text/short-summary.ts';
import { formatCount, formatNumber } from '../../text/format-number.ts';
import { type UsageBucket, usageBuckets, usageParts } from './usage-buckets.ts';
import styles from './usage.module.css';

const texts = {
  ranges: {
    '1h': 'Hour',
    '24h': '24 hours',
    '7d': '7 days',
    '30d': '30 days',
    '400d': '400 days',
  } satisfies Record<UsageRange, string>,
} as const;
const ranges = Object.keys(usageRanges) as readonly UsageRange[];

/** What the charts mark. */
const markedTypes = [...reachChangingTypes, 'feature-variants-updated'];
const maxMarks = 100;
const maxListedMarks = 4;
const refetchIntervalMs = 60_000;

const timeOfDay = new Intl.DateTimeFormat(undefined, { numberingSystem: 'latn', timeStyle: 'short' });
const dayAndMonth = new Intl.DateTimeFormat(undefined, { numberingSystem: 'latn', day: 'numeric', month: 'short' });
const weekdayAndDay = new Intl.DateTimeFormat(undefined, {
  numberingSystem: 'latn',
  weekday: 'short',
  day: 'numeric',
  month: 'short',
});

/** A time at the axis of a range, as the reader's browser writes it. Days of the longest range are those of UTC. */
function axisLabel(range: UsageRange, at: number): string {
  if (range === '1h' || range === '24h') return timeOfDay.format(at);
  return (range === '7d' ? weekdayAndDay : dayAndMonth).format(at);
}

function shareOf(yes: number, no: number): string {
  return `${Math.round((yes / (yes + no)) * 100)} % on`;
}

interface BarsProps {
  readonly buckets: readonly UsageBucket[];
  readonly parts: ReturnType<typeof usageParts>;
  readonly range: UsageRange;
  /** the times of changes, in milliseconds since 1970 */
  readonly marks: readonly number[];
}

/** Bars of evaluations over time, divided into parts, with a line at each change. The text beside them says what they show. */
function Bars({ buckets, parts, range, marks }: BarsProps) {
  const totals = buckets.map((_, nth) => parts.reduce((sum, { counts }) => sum + (counts[nth] ?? 0), 0));
  const highest = Math.max(1, ...totals);
  const first = buckets[0]?.at ?? 0;
  const step = (buckets[1]?.at ?? first + 1) - first;
  const end = (buckets.at(-1)?.at ?? first) + step;
  return (
    <div className={styles['plot']}>
      <span className={styles['highest']}>{formatNumber(highest)}</span>
      <svg
        viewBox={`0 0 ${buckets.length} 100`}
        preserveAspectRatio="none"
        className={styles['bars']}
        aria-hidden="true"
      >
        {parts.map(({ name, counts }, part) => (
          <g key={name} className={styles[name === 'off' ? 'off' : `part${part}`]}>
            {counts.map((count, nth) => {
              if (count === 0) return null;
              const below = parts.slice(0, part).reduce((sum, { counts: others }) => sum + (others[nth] ?? 0), 0);
              const height = (count / highest) * 100;
              return (
                <rect key={nth} x={nth + 0.1} width={0.8} y={100 - (below / highest) * 100 - height} height={height} />
              );
            })}
          </g>
        ))}
        {marks.map((at) => {
          const x = ((at - first) / (end - first)) * buckets.length;
          return <line key={at} x1={x} x2={x} y1={0} y2={100} className={styles['mark']} />;
        })}
      </svg>
      <div className={styles['axis']} aria-hidden="true">
        {[0, 0.5, 1].map((share) => (
          <span key={share}>{axisLabel(range, buckets[Math.round(share * (buckets.length - 1))]?.at ?? first)}</span>
        ))}
      </div>
    </div>
  );
}

interface EnvironmentUsageProps {
  readonly feature: string;
  readonly history: UsageHistory;
  readonly range: UsageRange;
  readonly environment: { readonly name: string; readonly type?: string | undefined };
  readonly events: readonly Event[];
}

function EnvironmentUsage({ feature, history, range, environment: { name, type }, events }: EnvironmentUsageProps) {
  const buckets = useMemo(() => usageBuckets(history, range, name), [history, range, name]);
  const parts = useMemo(() => usageParts(buckets), [buckets]);
  const [yes, no] = [
    buckets.reduce((sum, bucket) => sum + bucket.yes, 0),
    buckets.reduce((sum, bucket) => sum + bucket.no, 0),
  ];
  const changes = events.filter(({ environment }) => environment === name);
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['caption']}>
        <EnvironmentName name={name} type={type} />
        <span className={layout['small']}>
          {formatCount(yes + no, 'evaluation')}
          {yes + no > 0 && `, ${shareOf(yes, no)}`}
        </span>
      </figcaption>
      {yes + no > 0 && (
        <>
          <Bars
            buckets={buckets}
            parts={parts}
            range={range}
            marks={changes.map(({ createdAt }) => Date.parse(createdAt))}
          />
          <ul className={styles['legend']} aria-label={`What the colours of ${name} mean`}>
            {parts.map(({ name: part, counts }, nth) => (
              <li key={part}>
                <span className={`${styles['key']} ${styles[part === 'off' ? 'off' : `part${nth}`]}`} />
                <bdi>{part}</bdi> {formatNumber(counts.reduce((sum, count) => sum + count, 0))}
              </li>
            ))}
          </ul>
        </>
      )}
      {changes.length > 0 && (
        <ul className={styles['changes']} aria-label={`Changes in ${name}`}>
          {changes.slice(0, maxListedMarks).map(({ id, createdAt, summary, type: eventType, ...event }) => (
            <li key={id}>
              <Link to="/events" search={{ q: `id:${id}` }} title={formatDateAndTime(Date.parse(createdAt))}>
                <Time at={createdAt} />
              </Link>{' '}
              <EventSummary text={shortSummary(summary ?? eventType, { feature, environment: name })} by={event} />
            </li>
          ))}
          {changes.length > maxListedMarks && (
            <li>and {changes.length - maxListedMarks} more, each marked by a line</li>
          )}
        </ul>
      )}
    </figure>
  );
}

function isUsedIn({ environments }: UsageHistory): (environment: { readonly name: string }) => boolean {
  const used = new Set(environments.map(({ environment }) => environment));
  return ({ name }) => used.has(name);
}

/** Where the flag was not asked for: many charts without bars would bury the others. */
function UnusedEnvironments({ names }: { readonly names: readonly string[] }) {
  return names.length > 0 && <p className={layout['small']}>Not asked for in {names.join(', ')}.</p>;
}

function Applications({ applications }: Pick<UsageHistory, 'applications'>) {
  if (applications.length === 0) return null;
  return (
    <div className={styles['applications']}>
      <table className={layout['cells']}>
        <caption className="visually-hidden">The applications that asked for it</caption>
        <thead>
          <tr>
            <th scope="col">Application</th>
            <th scope="col">Environment</th>
            <th scope="col" className={styles['number']}>
              Evaluations
            </th>
            <th scope="col" className={styles['number']}>
              On
            </th>
          </tr>
        </thead>
        <tbody>
          {applications.map(({ appName, environment, yes, no }) => (
            <tr key={`${appName} ${environment}`}>
              <td>
                <Link to="/admin/$section/$item" params={{ section: 'applications', item: appName }}>
                  <bdi>{appName}</bdi>
                </Link>
              </td>
              <td>
                <EnvironmentName name={environment} />
              </td>
              <td className={styles['number']}>{formatNumber(yes + no)}</td>
              <td className={styles['number']}>{yes + no > 0 && `${Math.round((yes / (yes + no)) * 100)} %`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How often a flag was asked for in each environment, over a time that the reader chooses, and by which applications. */
export function UsagePanel({ feature: { name, environments = [] } }: { readonly feature: Feature }) {
  const [range, setRange] = useState<UsageRange>('24h');
  const history = useQuery({
    ...operationQuery(GetUsageHistory, {
      params: { featureName: name },
      query: { range, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone },
    }),
    placeholderData: keepPreviousData,
    refetchInterval: refetchIntervalMs,
  });
  const from = history.data?.from;
  const events = useQuery({
    ...operationQuery(SearchEvents, {
      query: {
        feature: `IS:${name}`,
        type: `IS_ANY_OF:${markedTypes.join(',')}`,
        from: `IS:${from?.slice(0, 10) ?? ''}`,
        limit: String(maxMarks),
      },
    }),
    enabled: from !== undefined,
    placeholderData: keepPreviousData,
    select: ({ events: all }) => all.filter(({ createdAt }) => Date.parse(createdAt) >= Date.parse(from ?? '')),
  });
  const shown = shownEnvironments(environments, useEnvironmentPreference());
  return (
    <section className={styles['panel']} aria-labelledby="usage">
      <div className={layout['bar']}>
        <h2 id="usage">Usage</h2>
        <div role="group" aria-label="Time" className={layout['tabs']}>
          {ranges.map((one) => (
            <button
              key={one}
              type="button"
              className={styles['range']}
              aria-pressed={one === range}
              onClick={() => setRange(one)}
            >
              {texts.ranges[one]}
            </button>
          ))}
        </div>
      </div>
      <QueryResult query={history}>
        {(data) =>
          data.environments.length === 0 ? (
            <p className={layout['small']}>No application has asked for this flag in this time.</p>
          ) : (
            <div aria-busy={history.isPlaceholderData} className={layout['denseStack']}>
              <div className={styles['figures']}>
                {shown.filter(isUsedIn(data)).map((environment) => (
                  <EnvironmentUsage
                    key={environment.name}
                    feature={name}
                    history={data}
                    // It may still be that of the range before.
                    range={data.range}
                    environment={environment}
                    events={events.data ?? []}
                  />
                ))}
              </div>
              <UnusedEnvironments names={shown.filter((one) => !isUsedIn(data)(one)).map((one) => one.name)} />
              <Applications applications={data.applications} />
            </div>
          )
        }
      </QueryResult>
    </section>
  );
}
