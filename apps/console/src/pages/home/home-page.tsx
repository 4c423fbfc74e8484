import {
  type AnyOperation,
  ListApplications,
  ListCleanupFeatures,
  ListUnknownFlags,
  SearchChangeRequests,
  SearchEvents,
  SearchFeatures,
} from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, Suspense, useState } from 'react';
import { useEventBatches } from '../../api/event-feed.ts';
import { operationKey, operationQuery, useEnvironments, useMe } from '../../api/queries-and-mutations.ts';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Time } from '../../components/content/time.tsx';
import { Page } from '../../components/layout/page.tsx';
import { useAskedUnknown, useChangedToday, useGoneQuiet, useMyFlags, useRequests } from './home-queries.ts';
import { ChangeItem, FlagLink, RequestItem, Section } from './sections.tsx';
import { ProjectName } from '../../components/content/project-name.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './home.module.css';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const FirstSteps = lazyPart(() => import('./first-steps.tsx').then(({ FirstSteps }) => FirstSteps));
function WaitingForYou() {
  const query = useRequests('reviewable');
  return (
    <Section
      title="Waiting for you"
      query={query}
      none="No change waits for your approval."
      more={
        <Link to="/change-requests" search={{ view: 'inbox' }}>
          Show all
        </Link>
      }
    >
      {(request) => <RequestItem key={request.id} request={request} end={<Time at={request.createdAt} />} />}
    </Section>
  );
}

function Scheduled() {
  const query = useRequests('scheduled');
  return (
    <Section
      title="Scheduled"
      query={query}
      none="No change is scheduled."
      more={
        <Link to="/change-requests" search={{ view: 'open' }}>
          Show all
        </Link>
      }
    >
      {(request) => (
        <RequestItem
          key={request.id}
          request={request}
          end={
            request.schedule !== undefined && request.schedule.status !== 'pending' ? (
              `schedule ${request.schedule.status}`
            ) : (
              <Time at={request.schedule?.scheduledAt} isAbsolute />
            )
          }
        />
      )}
    </Section>
  );
}

function ChangedToday() {
  const { query, environments } = useChangedToday();
  if (environments.length === 0) return null;
  return (
    <Section
      title="Changed in production today"
      query={query}
      none="Nothing has changed in production today."
      more={
        <Link to="/events" search={{ q: environments.map((name) => `environment:${name}`).join(' ') }}>
          Show all
        </Link>
      }
    >
      {(event) => <ChangeItem key={event.id} event={event} namesEnvironment={environments.length > 1} isOfToday />}
    </Section>
  );
}

function MyFlags() {
  const query = useMyFlags();
  return (
    <Section
      title="Your flags"
      query={query}
      none="Flags that you create, and your favourites, are listed here."
      more={
        <Link to="/flags" search={{ q: 'favourite:true' }}>
          Favourites
        </Link>
      }
    >
      {({ name, project, environments }) => {
        const on = environments.filter(({ enabled }) => enabled).map(({ name: environment }) => environment);
        return (
          <li key={`${project}/${name}`}>
            <span className={styles['main']}>
              <FlagLink project={project} name={name} />
              <span className={styles['detail']}>
                <ProjectName id={project} /> · {on.length === 0 ? 'off everywhere' : 'on in '}
                {on.slice(0, 3).map((environment, nth) => (
                  <Fragment key={environment}>
                    {nth > 0 && ', '}
                    <EnvironmentName name={environment} />
                  </Fragment>
                ))}
                {on.length > 3 && ` and ${on.length - 3} more`}
              </span>
            </span>
          </li>
        );
      }}
    </Section>
  );
}

function GoneQuiet() {
  const query = useGoneQuiet();
  return (
    <Section
      title="Gone quiet"
      query={query}
      none="No flag has gone quiet in the last 30 days."
      more={
        <Link to="/cleanup" search={{ reason: 'notSeen' }}>
          Show all
        </Link>
      }
    >
      {({ name, project, environments }) => (
        <li key={`${project}/${name}`}>
          <span className={styles['main']}>
            <FlagLink project={project} name={name} />
            <span className={styles['detail']}>
              <ProjectName id={project} />
            </span>
          </span>
          <span className={styles['end']}>
            <Time
              at={environments.reduce<string | null>(
                (latest, { lastSeenAt }) =>
                  lastSeenAt !== null && (latest === null || lastSeenAt > latest) ? lastSeenAt : latest,
                null,
              )}
            />
          </span>
        </li>
      )}
    </Section>
  );
}

function AskedUnknown() {
  const query = useAskedUnknown();
  return (
    <Section
      title="Asked for, but unknown"
      query={query}
      none="Applications ask only for flags that exist."
      more={
        <Link to="/cleanup" search={{ reason: 'unknown' }}>
          Show all
        </Link>
      }
    >
      {({ name, lastSeenAt, reports }) => (
        <li key={name}>
          <span className={styles['main']}>
            <bdi className={styles['name']}>{name}</bdi>
            <span className={styles['detail']}>
              by{' '}
              {reports.slice(0, 2).map(({ appName }, nth) => (
                <Fragment key={appName}>
                  {nth > 0 && ', '}
                  <bdi>{appName}</bdi>
                </Fragment>
              ))}
              {reports.length > 2 && ` and ${reports.length - 2} more`}
            </span>
          </span>
          <span className={styles['end']}>
            <Time at={lastSeenAt} />
          </span>
        </li>
      )}
    </Section>
  );
}

/** Milliseconds between two reads of the page after events: what is found cheaply, and what the server scans for. */
const readAgainMs = 10_000;
const scanAgainMs = 60_000;

/** What concerns who is signed in, over all projects. */
export function HomePage() {
  const { data: me } = useMe();
  // Opens the page as it is found: a first flag that somebody creates now does not take away what one reads.
  const [found, setFound] = useState<{ readonly flags: number; readonly applications: number } | undefined>();
  const flags = useQuery(operationQuery(SearchFeatures, { query: { limit: '1' } }));
  const applications = useQuery(operationQuery(ListApplications, { query: { limit: 1 } }));
  if (found === undefined && flags.data !== undefined && applications.data !== undefined)
    setFound({ flags: flags.data.total ?? 0, applications: applications.data.total });
  const client = useQueryClient();
  const readAgain = (...operations: readonly AnyOperation[]): Promise<unknown> =>
    Promise.all(operations.map((operation) => client.invalidateQueries({ queryKey: operationKey(operation) })));
  useEventBatches(
    () => true,
    () => readAgain(SearchChangeRequests, SearchEvents, SearchFeatures),
    readAgainMs,
  );
  // The server scans all flags for these.
  useEventBatches(
    () => true,
    () => readAgain(ListCleanupFeatures, ListUnknownFlags),
    scanAgainMs,
  );
  const name = me?.user.name ?? me?.user.username ?? undefined;
  // A mark of an environment takes room: what names one waits until they are known.
  const isMarkPending = useEnvironments().isPending;
  if (isMarkPending || (found === undefined && flags.error === null && applications.error === null))
    return (
      <Page title="Home">
        <Loading />
      </Page>
    );
  const firstSteps = (found?.flags === 0 || found?.applications === 0) && (
    <Suspense fallback={<Loading />}>
      <FirstSteps hasFlag={(flags.data?.total ?? 0) > 0} hasApplication={(applications.data?.total ?? 0) > 0} />
    </Suspense>
  );
  if (found?.flags === 0) return <Page title="Home">{firstSteps}</Page>;
  return (
    <Page title="Home" titleExtras={name !== undefined && <span className={styles['detail']}>{name}</span>}>
      {firstSteps}
      <div className={layout['columns']}>
        <div className={layout['column']}>
          <WaitingForYou />
          <ChangedToday />
          <Scheduled />
        </div>
        <div className={layout['column']}>
          <MyFlags />
          <GoneQuiet />
          <AskedUnknown />
        </div>
      </div>
    </Page>
  );
}
