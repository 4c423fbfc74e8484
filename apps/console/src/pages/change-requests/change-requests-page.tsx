import { type ChangeRequestSearchItem, SearchChangeRequests } from '@bunting/contracts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useLiveEvents } from '../../api/live-events.ts';
import { read, useMe } from '../../api/queries.ts';
import { buttonClass } from '../../components/button.tsx';
import { Answer, EmptyState, Table } from '../../components/content.tsx';
import { Page } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { messages } from '../../messages.ts';
import { StateBadge } from './state-badge.tsx';
import styles from './change-requests.module.css';

const views = ['open', 'inbox', 'mine', 'closed'] as const;
type View = (typeof views)[number];
const pageSize = 50;

/** Users have positive ids; what an API key without a user has proposed is found among all. */
const queryOf = (view: View, me: number): { state?: string; createdBy?: string; requestedApproverId?: string } => {
  switch (view) {
    case 'inbox':
      return { state: 'IS:open', requestedApproverId: `IS:${me}` };
    case 'mine':
      return { createdBy: `IS:${me}` };
    case 'open':
    case 'closed':
      return { state: `IS:${view}` };
  }
};

const columns = [
  {
    id: 'title',
    title: messages.changeRequests.title,
    cell: ({ id, title, project }: ChangeRequestSearchItem) => (
      <Link to="/projects/$project/change-requests/$id" params={{ project, id: String(id) }}>
        {title ?? messages.changeRequests.untitled(id)}
      </Link>
    ),
  },
  {
    id: 'what',
    title: messages.changeRequests.what,
    cell: ({ features, segments }: ChangeRequestSearchItem) =>
      messages.changeRequests.names([...features, ...segments]),
  },
  {
    id: 'where',
    title: messages.changeRequests.where,
    cell: ({ project, environment }: ChangeRequestSearchItem) => `${project} / ${environment}`,
  },
  {
    id: 'state',
    title: messages.changeRequests.state,
    cell: ({ state, schedule }: ChangeRequestSearchItem) => <StateBadge state={state} schedule={schedule} />,
  },
  {
    id: 'author',
    title: messages.changeRequests.author,
    cell: ({ createdBy }: ChangeRequestSearchItem) => createdBy.username ?? messages.changeRequests.someoneGone,
  },
  {
    id: 'created',
    title: messages.changeRequests.created,
    cell: ({ createdAt }: ChangeRequestSearchItem) => <Time at={createdAt} />,
  },
];

/** The change requests of all projects: the open ones, those that wait for the user, the user's own, and the closed ones. */
export const ChangeRequestsPage = () => {
  const search = useSearch({ strict: false }) as { readonly view?: string; readonly from?: string };
  const view = views.find((one) => one === search.view) ?? 'open';
  const from = Math.max(0, Math.floor(Number(search.from ?? 0)) || 0);
  const me = useMe().data?.user.id;
  const query = useQuery({
    ...read(SearchChangeRequests, { query: { ...queryOf(view, Math.max(0, me ?? 0)), offset: from, limit: pageSize } }),
    placeholderData: keepPreviousData,
    enabled: me !== undefined,
  });
  useLiveEvents(({ type }) => {
    if (type.startsWith('change-')) void query.refetch();
  });
  return (
    <Page title={messages.changeRequests.page}>
      <nav aria-label={messages.changeRequests.views} className={styles['tabs']}>
        {views.map((one) => (
          <Link
            key={one}
            to="/change-requests"
            search={{ view: one }}
            data-current={one === view || undefined}
            aria-current={one === view ? 'page' : undefined}
          >
            {messages.changeRequests.viewNames[one]}
          </Link>
        ))}
      </nav>
      <Answer query={query}>
        {({ changeRequests, total }) =>
          changeRequests.length === 0 ? (
            <EmptyState title={messages.changeRequests.empty[view]}>{messages.changeRequests.emptyHelp}</EmptyState>
          ) : (
            <>
              <Table
                label={messages.changeRequests.page}
                columns={columns}
                rows={changeRequests}
                rowKey={({ id }) => id}
              />
              <div className={styles['head']}>
                <p className={styles['muted']}>
                  {messages.changeRequests.shown(from + 1, from + changeRequests.length, total)}
                </p>
                <span className={styles['tabs']}>
                  {from > 0 && (
                    <Link
                      to="/change-requests"
                      search={{ view, from: String(Math.max(0, from - pageSize)) }}
                      className={buttonClass({ size: 'small' })}
                    >
                      {messages.changeRequests.newer}
                    </Link>
                  )}
                  {from + changeRequests.length < total && (
                    <Link
                      to="/change-requests"
                      search={{ view, from: String(from + pageSize) }}
                      className={buttonClass({ size: 'small' })}
                    >
                      {messages.changeRequests.older}
                    </Link>
                  )}
                </span>
              </div>
            </>
          )
        }
      </Answer>
    </Page>
  );
};
