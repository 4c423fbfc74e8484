import type { UserSession } from '@bunting/contracts';
import { Table } from '../../components/content/table.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Button } from '../../components/buttons/button.tsx';
import { Time } from '../../components/content/time.tsx';
import { profileMessages as text } from '../../messages/profile.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { browserName } from './browser-name.ts';

interface SessionTableProps {
  readonly sessions: readonly UserSession[];
  /** ends one session; without it the table has no actions */
  readonly onEnd?: (id: UserSession['id']) => void;
}

/** The browsers in which a user is signed in. */
export const SessionTable = ({ sessions, onEnd }: SessionTableProps) => (
  <Table
    label={text.sessions}
    rows={sessions}
    rowKey={({ id }) => id}
    columns={[
      {
        id: 'browser',
        title: text.browser,
        cell: ({ userAgent, isCurrent }) => (
          <span title={userAgent}>
            {browserName(userAgent)} {isCurrent && <Badge tone="accent">{text.thisBrowser}</Badge>}
          </span>
        ),
      },
      { id: 'address', title: text.ipAddress, cell: ({ address }) => address },
      { id: 'created', title: text.signedIn, cell: ({ createdAt }) => <Time at={createdAt} /> },
      { id: 'seen', title: text.lastUsed, cell: ({ seenAt }) => <Time at={seenAt} /> },
      ...(onEnd === undefined
        ? []
        : [
            {
              id: 'end',
              title: sharedMessages.common.actions,
              cell: ({ id, isCurrent }: UserSession) =>
                !isCurrent && (
                  <Button size="small" onPress={() => onEnd(id)}>
                    {text.endSession}
                  </Button>
                ),
            },
          ]),
    ]}
  />
);
