import { CountUnreadNotifications } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery, useIsPerson } from '../../api/queries-and-mutations.ts';
import { buttonClass } from '../../components/buttons/button-class.ts';
import { Badge } from '../../components/content/badge.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { formatCount, formatNumber } from '../../text/format-number.ts';

/** Milliseconds after which the number is read again. A stream would hold a connection of every open tab. */
const refetchIntervalMs = 60_000;

/** The way to the inbox, with the number of unread notifications; nothing for a key that belongs to no person. */
export function InboxBell() {
  const isPerson = useIsPerson();
  const { data } = useQuery({
    ...operationQuery(CountUnreadNotifications, {}),
    enabled: isPerson,
    refetchInterval: refetchIntervalMs,
    refetchOnWindowFocus: true,
    retry: false,
  });
  if (!isPerson) return null;
  const unread = data?.unread ?? 0;
  const label = unread === 0 ? 'Inbox' : `Inbox, ${formatCount(unread, 'unread notification')}`;
  return (
    <Link to="/inbox" className={buttonClass({ variant: 'quiet' })} aria-label={label} title={label}>
      <Icon name="bell" />
      {unread > 0 && <Badge tone="accent">{unread > 99 ? '99+' : formatNumber(unread)}</Badge>}
    </Link>
  );
}
