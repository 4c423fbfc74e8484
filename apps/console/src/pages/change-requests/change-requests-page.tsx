import {
  type ChangeRequestSearchItem,
  SearchChangeRequests,
  SetChangeRequestConfig,
  UpdateEnvironment,
} from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useEventBatches } from '../../api/event-feed.ts';
import { useMayCall } from '../../api/permissions.ts';
import { operationQuery, useMe } from '../../api/queries-and-mutations.ts';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { buttonClass } from '../../components/buttons/button.tsx';
import { AndMore } from '../../components/content/and-more.tsx';
import { Table } from '../../components/content/table.tsx';
import { QueryResult, EmptyState } from '../../components/content/query-result.tsx';
import { PersonName } from '../../components/content/person-name.tsx';
import { Time } from '../../components/content/time.tsx';
import { ReviewCount } from './review-count.tsx';
import { useAffectedEnvironments } from './affected-environments.ts';
import { StateBadge } from './state-badge.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './change-requests.module.css';
import { formatCount } from '../../text/format-number.ts';
import { ProjectName } from '../../components/content/project-name.tsx';
import { ListPage } from '../projects/project-tabs.tsx';

const texts = {
  viewNames: { open: 'Open', inbox: 'Waits for me', mine: 'Mine', closed: 'Closed' },
  empty: {
    open: 'No change request is open',
    inbox: 'No change request waits for you',
    mine: 'You have proposed nothing yet',
    closed: 'No change request is closed',
  },
} as const;

const views = ['open', 'inbox', 'mine', 'closed'] as const;
type View = (typeof views)[number];
const pageSize = 50;

/** The search of a view. @param userId the id of the user; 0 for an API key without a user, for which `mine` finds nothing */
function queryOf(view: View, userId: number): { state?: string; createdBy?: string; reviewable?: boolean } {
  switch (view) {
    case 'inbox':
      return { reviewable: true };
    case 'mine':
      return { createdBy: `IS:${userId}` };
    case 'open':
    case 'closed':
      return { state: `IS:${view}` };
  }
}

function AffectedEnvironments({ request }: { readonly request: ChangeRequestSearchItem }) {
  const [first = request.environment, ...others] = useAffectedEnvironments(request);
  return (
    <span>
      <EnvironmentName name={first} />
      <AndMore names={others}>{(name) => <EnvironmentName name={name} />}</AndMore>
    </span>
  );
}

const columns = [
  {
    title: 'Title',
    cell: ({ id, title, project }: ChangeRequestSearchItem) => (
      <Link
        to="/projects/$project/change-requests/$id"
        params={{ project, id: String(id) }}
        className={styles['title'] ?? ''}
      >
        {title ?? `Change request #${id}`}
      </Link>
    ),
  },
  {
    title: 'Changes',
    cell: ({ features, segments }: ChangeRequestSearchItem) => {
      const [first, ...others] = [...features, ...segments];
      return (
        <span>
          <bdi className={styles['whole']} title={first}>
            {first}
          </bdi>
          <AndMore names={others} />
        </span>
      );
    },
  },
  {
    title: 'Project',
    cell: ({ project }: ChangeRequestSearchItem) => (
      <span className={styles['whole']}>
        <ProjectName id={project} />
      </span>
    ),
  },
  {
    title: 'Environment',
    cell: (request: ChangeRequestSearchItem) => <AffectedEnvironments request={request} />,
  },
  {
    title: 'State',
    cell: ({ state, schedule }: ChangeRequestSearchItem) => <StateBadge state={state} schedule={schedule} />,
  },
  {
    title: 'Author',
    cell: ({ createdBy }: ChangeRequestSearchItem) => (
      <span className={styles['whole']}>
        <PersonName id={createdBy.id} login={createdBy.username ?? 'a deleted user'} />
      </span>
    ),
  },
  { title: 'Created', cell: ({ createdAt }: ChangeRequestSearchItem) => <Time at={createdAt} /> },
];

/** Leads to where one chooses which environments are protected, for whoever may choose. */
function ProtectionLink({ project }: { readonly project: string | undefined }) {
  const mayCall = useMayCall();
  const text = 'Choose where changes need approval';
  if (project === undefined)
    return (
      mayCall(UpdateEnvironment) && (
        <Link to="/admin/$section" params={{ section: 'environments' }} className={buttonClass()}>
          {text}
        </Link>
      )
    );
  return (
    mayCall(SetChangeRequestConfig, { project }) && (
      <Link to="/projects/$project/$tab" params={{ project, tab: 'environments' }} className={buttonClass()}>
        {text}
      </Link>
    )
  );
}

const columnsOfProject = columns.filter(({ title }) => title !== 'Project');

/** The change requests of all projects, or of one: the open ones, those that wait for the user, the user's own, and the closed ones. */
export function ChangeRequestsPage({ project }: { readonly project?: string | undefined }) {
  const search = useSearch({ strict: false });
  const view = views.find((known) => known === search.view) ?? 'open';
  const offset = Math.max(0, Math.floor(Number(search.from ?? 0)) || 0);
  const userId = useMe().data?.user.id;
  const query = useQuery({
    ...operationQuery(SearchChangeRequests, {
      query: {
        ...queryOf(view, Math.max(0, userId ?? 0)),
        ...(project !== undefined && { project: `IS:${project}` }),
        offset,
        limit: pageSize,
      },
    }),
    placeholderData: keepPreviousData,
    enabled: userId !== undefined,
  });
  useEventBatches(
    ({ type }) => type.startsWith('change-'),
    () => query.refetch(),
  );
  return (
    <ListPage project={project} tab="change-requests" title="Change requests" scrolls="page">
      <nav aria-label="Which change requests" className={layout['tabs']}>
        {views.map((tab) => (
          <Link
            key={tab}
            to="."
            search={{ view: tab }}
            data-current={tab === view || undefined}
            aria-current={tab === view ? 'page' : undefined}
          >
            {texts.viewNames[tab]}
            {tab === 'inbox' && <ReviewCount project={project} />}
          </Link>
        ))}
      </nav>
      <QueryResult query={query}>
        {({ changeRequests, total }) =>
          changeRequests.length === 0 ? (
            <EmptyState title={texts.empty[view]} action={view === 'open' && <ProtectionLink project={project} />}>
              {view === 'inbox'
                ? 'What others have sent to review and you may approve is listed here.'
                : 'Where an environment is protected, edits become change requests: others review them before they apply.'}
            </EmptyState>
          ) : (
            <>
              <Table
                label="Change requests"
                columns={project === undefined ? columns : columnsOfProject}
                rows={changeRequests}
                rowKey={({ id }) => id}
              />
              <div className={layout['bar']}>
                <p className={layout['small']}>
                  {total > changeRequests.length && `${offset + 1} to ${offset + changeRequests.length} of `}
                  {formatCount(total, 'request')}
                </p>
                <span className={layout['tabs']}>
                  {offset > 0 && (
                    <Link
                      to="."
                      search={{ view, from: String(Math.max(0, offset - pageSize)) }}
                      className={buttonClass({ size: 'small' })}
                    >
                      Newer
                    </Link>
                  )}
                  {offset + changeRequests.length < total && (
                    <Link
                      to="."
                      search={{ view, from: String(offset + pageSize) }}
                      className={buttonClass({ size: 'small' })}
                    >
                      Older
                    </Link>
                  )}
                </span>
              </div>
            </>
          )
        }
      </QueryResult>
    </ListPage>
  );
}

/** The change requests of the project in the URL. */
export function ProjectChangeRequestsPage() {
  const { project = '' } = useParams({ strict: false }) as { project?: string };
  return <ChangeRequestsPage key={project} project={project} />;
}
