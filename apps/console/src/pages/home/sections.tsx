import type { ChangeRequestSearchItem, Event } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { Fragment, Suspense } from 'react';
import { EventSummary } from '../../components/content/event-summary.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { PersonName } from '../../components/content/person-name.tsx';
import { ProjectName } from '../../components/content/project-name.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Time } from '../../components/content/time.tsx';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { subjectOf } from '../../text/event-words.ts';
import { formatCount } from '../../text/format-number.ts';
import { shortSummary } from '../../text/short-summary.ts';
import { useAffectedEnvironments } from '../change-requests/affected-environments.ts';
import { maxShown } from './home-queries.ts';
import styles from './home.module.css';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const UndoButton = lazyPart(() => import('./undo-button.tsx').then(({ UndoButton }) => UndoButton));

interface SectionProps<T> {
  readonly title: string;
  readonly query: { readonly data: readonly T[] | undefined; readonly error: unknown; readonly refetch: () => unknown };
  /** what is said when there is nothing */
  readonly none: string;
  /** leads to all of it */
  readonly more: React.ReactNode;
  readonly children: (item: T) => React.ReactNode;
}

/** A part of the page, with at most a few items. Each is read by itself, so that none waits for another. */
export function Section<T>({ title, query, none, more, children }: SectionProps<T>) {
  const id = title.toLowerCase().replace(/\W+/g, '-');
  const { data, error } = query;
  return (
    <section className={styles['section']} aria-labelledby={id}>
      <div className={styles['head']}>
        <h2 id={id}>{title}</h2>
        {data !== undefined && data.length > 0 && more}
      </div>
      {data === undefined && <ErrorNotice error={error} retry={() => void query.refetch()} />}
      {error == null && data === undefined && <Loading />}
      {data !== undefined &&
        (data.length === 0 ? (
          <p className={styles['none']}>{none}</p>
        ) : (
          <ul className={styles['items']}>{data.slice(0, maxShown).map(children)}</ul>
        ))}
    </section>
  );
}

interface FlagLinkProps {
  readonly project: string;
  readonly name: string;
}

/** Leads to a flag. */
export function FlagLink({ project, name }: FlagLinkProps) {
  return (
    <Link
      to="/projects/$project/features/$feature"
      params={{ project, feature: name }}
      preload={false}
      className={styles['name'] ?? ''}
    >
      <bdi>{name}</bdi>
    </Link>
  );
}

interface RequestItemProps {
  readonly request: ChangeRequestSearchItem;
  /** what stands at its end, such as when it was proposed */
  readonly end: React.ReactNode;
  /** whether the page is about its project, which is not named then */
  readonly isOfProject?: boolean;
}

/** A change request: who wants to change what, and where. */
export function RequestItem({ request, end, isOfProject = false }: RequestItemProps) {
  const { id, title, project, features, segments, createdBy } = request;
  const [environment = request.environment, ...otherEnvironments] = useAffectedEnvironments(request);
  const count = features.length + segments.length;
  return (
    <li>
      <span className={styles['main']}>
        <Link
          to="/projects/$project/change-requests/$id"
          params={{ project, id: String(id) }}
          className={styles['name'] ?? ''}
        >
          <bdi>{title ?? `Change request #${id}`}</bdi>
        </Link>
        <span className={styles['detail']}>
          <PersonName id={createdBy.id} login={createdBy.username ?? 'A deleted user'} /> wants to change{' '}
          <EnvironmentName name={environment} />
          {otherEnvironments.length > 0 && ` and ${formatCount(otherEnvironments.length, 'other environment')}`}
          {!isOfProject && (
            <>
              {' '}
              of <ProjectName id={project} />
            </>
          )}
          {count > 0 && ` · ${formatCount(count, features.length > 0 ? 'flag' : 'segment')}`}
        </span>
      </span>
      <span className={styles['end']}>{end}</span>
    </li>
  );
}

interface ChangeItemProps {
  readonly event: Event;
  readonly namesEnvironment: boolean;
  /** whether the time of day says when it was */
  readonly isOfToday?: boolean;
  /** whether the page is about its project, which is not named then */
  readonly isOfProject?: boolean;
}

/** What somebody changed about a flag, with its undo. */
export function ChangeItem({ event, namesEnvironment, isOfToday = false, isOfProject = false }: ChangeItemProps) {
  const { project, environment, featureName, createdAt } = event;
  const place = [
    ...(isOfProject || project == null ? [] : [<ProjectName key="project" id={project} />]),
    ...(namesEnvironment && environment != null ? [<EnvironmentName key="environment" name={environment} />] : []),
    ...(isOfToday ? [] : [<Time key="time" at={createdAt} />]),
  ];
  return (
    <li>
      {isOfToday && (
        <span className={styles['time']}>
          <Time at={createdAt} isTimeOfDay />
        </span>
      )}
      <span className={styles['main']}>
        <span className={styles['place']}>
          {featureName != null && project != null && <FlagLink project={project} name={featureName} />}
          <span className={styles['detail']}>
            {place.map((part, nth) => (
              <Fragment key={nth}>
                {nth > 0 && ' · '}
                {part}
              </Fragment>
            ))}
          </span>
        </span>
        <span className={styles['what']}>
          <EventSummary
            text={shortSummary(event.summary ?? event.label ?? event.type, { feature: featureName, environment })}
            by={event}
            subject={featureName == null ? subjectOf(event) : undefined}
          />
        </span>
      </span>
      <span className={styles['undo']}>
        <Suspense>
          <UndoButton event={event} />
        </Suspense>
      </span>
    </li>
  );
}
