import {
  ListNotifications,
  MarkAllNotificationsRead,
  MarkNotification,
  type Notification,
  type NotificationKind,
  notificationKinds,
} from '@bunting/contracts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../../api/call.ts';
import { operationKey, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import chip from '../../components/content/chip.module.css';
import { EventSummary } from '../../components/content/event-summary.tsx';
import { EmptyState, QueryResult } from '../../components/content/query-result.tsx';
import { Time } from '../../components/content/time.tsx';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { Checkbox } from '../../components/forms/fields.tsx';
import { Select } from '../../components/forms/selects.tsx';
import layout from '../../components/layout/layout.module.css';
import { Page } from '../../components/layout/page.tsx';
import { useSearchParameter } from '../../filtering/search-parameter.ts';
import { formatCount } from '../../text/format-number.ts';
import { isolated } from '../../text/isolated.ts';
import { shortSummary } from '../../text/short-summary.ts';
import styles from './inbox.module.css';
import { notificationKindTexts } from './notification-kinds.ts';
import { ProjectName } from '../../components/content/project-name.tsx';

const kindOptions = [
  { id: '', label: 'Everything' },
  ...notificationKinds.map((kind) => ({ id: kind, label: notificationKindTexts[kind] })),
];

function Item({ notification }: { readonly notification: Notification }) {
  const mark = useOperationMutation(MarkNotification, 'notified');
  const { id, isRead, title, comment, project, environment, featureName, changeRequestId, createdAt, path } =
    notification;
  // The line above and the chips below say the rest.
  const summary = shortSummary(notification.summary, { environment, feature: title === featureName ? title : null });
  const name = title === '' ? `Change request #${changeRequestId}` : title;
  const markAs = (read: boolean): void => mark.mutate({ params: { id }, body: { isRead: read } });
  return (
    <li className={styles['item']} data-unread={!isRead || undefined}>
      <div className={styles['what']}>
        <span className={styles['title']}>
          {!isRead && <span className="visually-hidden">Unread: </span>}
          <Link to={path} onClick={() => !isRead && markAs(true)}>
            <bdi>{name}</bdi>
          </Link>
        </span>
        <EventSummary text={summary} by={notification} />
        {comment !== null && (
          <blockquote className={styles['comment']} dir="auto">
            {comment}
          </blockquote>
        )}
        <span className={layout['inline']}>
          <span className={layout['small']}>
            <Time at={createdAt} />
          </span>
          {project !== null && (
            <span className={chip['chip']}>
              <ProjectName id={project} />
            </span>
          )}
          {environment !== null && (
            <span className={chip['chip']}>
              <EnvironmentName name={environment} />
            </span>
          )}
        </span>
      </div>
      <IconButton
        icon={isRead ? 'unread' : 'check'}
        label={`${isRead ? 'Mark as unread' : 'Mark as read'}: ${isolated(name)}`}
        onPress={() => !mark.isPending && markAs(!isRead)}
      />
    </li>
  );
}

/** What the user was told, newest first: what, who, where and when, with a link to it. */
export function InboxPage() {
  const [kind, setKind] = useSearchParameter('kind');
  const [unread, setUnread] = useSearchParameter('unread');
  const filter = {
    ...(notificationKinds.includes(kind as NotificationKind) ? { kind: kind as NotificationKind } : {}),
    ...(unread === 'true' ? { unread: true } : {}),
  };
  const pages = useInfiniteQuery({
    queryKey: operationKey(ListNotifications, filter),
    queryFn: ({ pageParam, signal }) =>
      call(ListNotifications, { query: { ...filter, ...(pageParam > 0 ? { before: pageParam } : {}) }, signal }),
    initialPageParam: 0,
    getNextPageParam: ({ notifications }, all) => {
      const shown = all.reduce((sum, page) => sum + page.notifications.length, 0);
      return shown < (all[0]?.total ?? 0) ? notifications.at(-1)?.id : undefined;
    },
  });
  const markAll = useOperationMutation(MarkAllNotificationsRead, 'notified');
  const newest = pages.data?.pages[0];
  const upTo = newest?.notifications[0]?.id;
  return (
    <Page
      title="Inbox"
      actions={
        newest !== undefined &&
        newest.unread > 0 &&
        upTo !== undefined && (
          <Button
            isPending={markAll.isPending}
            onPress={() => markAll.mutate({ body: { upTo, ...(filter.kind && { kind: filter.kind }) } })}
          >
            {filter.kind === undefined ? 'Mark all as read' : 'Mark these as read'}
          </Button>
        )
      }
    >
      <div className={styles['filter']}>
        <Select label="Show" options={kindOptions} value={filter.kind ?? ''} onChange={(id) => setKind(id)} />
        <Checkbox isSelected={unread === 'true'} onChange={(isOn) => setUnread(isOn ? 'true' : '')}>
          Unread only
        </Checkbox>
      </div>
      <QueryResult query={pages}>
        {({ pages: loaded }) => {
          const notifications = loaded.flatMap((page) => page.notifications);
          if (notifications.length === 0)
            return (kind ?? '') === '' && (unread ?? '') === '' ? (
              <EmptyState title="Nothing yet">
                Here you are told when a review is asked of you, what becomes of your change requests, when others
                change your flags in production, and when your tokens end. <Link to="/profile">Choose what</Link> in
                your profile.
              </EmptyState>
            ) : (
              <EmptyState title="Nothing matches">There is nothing here that you have not seen.</EmptyState>
            );
          return (
            <>
              <ul className={styles['list']} aria-label="Notifications">
                {notifications.map((notification) => (
                  <Item key={notification.id} notification={notification} />
                ))}
              </ul>
              <p className={layout['small']} role="status">
                {formatCount(loaded[0]?.total ?? 0, 'notification')}, kept for 90 days.
              </p>
              {pages.hasNextPage && (
                <Button isPending={pages.isFetchingNextPage} onPress={() => void pages.fetchNextPage()}>
                  Show older ones
                </Button>
              )}
            </>
          );
        }}
      </QueryResult>
    </Page>
  );
}
