import type { UserSession } from '@bunting/contracts';
import { Table } from '../../components/content/table.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Button } from '../../components/buttons/button.tsx';
import { Time } from '../../components/content/time.tsx';
import { browserName } from './browser-name.ts';

interface SessionTableProps {
  readonly sessions: readonly UserSession[];
  /** ends one session; without it the table has no actions */
  readonly onEnd?: (id: UserSession['id']) => void;
}

/** The browsers in which a user is signed in. */
export function SessionTable({ sessions, onEnd }: SessionTableProps) {
  return (
    <Table
      label="Signed-in browsers"
      rows={sessions}
      rowKey={({ id }) => id}
      columns={[
        {
          title: 'Browser',
          cell: ({ userAgent, isCurrent }) => (
            <span title={userAgent}>
              {browserName(userAgent)} {isCurrent && <Badge tone="accent">this browser</Badge>}
            </span>
          ),
        },
        { title: 'Address', cell: ({ address }) => address },
        { title: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { title: 'Last used', cell: ({ seenAt }) => <Time at={seenAt} /> },
        ...(onEnd === undefined
          ? []
          : [
              {
                title: 'Actions',
                isTitleHidden: true,
                cell: ({ id, isCurrent }: UserSession) =>
                  !isCurrent && (
                    <Button size="small" onPress={() => onEnd(id)}>
                      Sign out
                    </Button>
                  ),
              },
            ]),
      ]}
    />
  );
}
