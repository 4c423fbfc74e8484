import type { SlackAccount } from '@bunting/contracts';
import { Button } from '../../components/buttons/button.tsx';
import { Table } from '../../components/content/table.tsx';
import { Time } from '../../components/content/time.tsx';

interface SlackAccountTableProps {
  readonly accounts: readonly SlackAccount[];
  readonly onUnlink: (id: SlackAccount['id']) => void;
}

/** The Slack accounts that act as a user. */
export function SlackAccountTable({ accounts, onUnlink }: SlackAccountTableProps) {
  return (
    <Table
      label="Slack accounts"
      rows={accounts}
      rowKey={({ id }) => id}
      columns={[
        { title: 'Account', cell: ({ slackUserName, slackUserId }) => `${slackUserName} (${slackUserId})` },
        { title: 'Workspace', cell: ({ teamName, teamId }) => `${teamName} (${teamId})` },
        { title: 'Linked', cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          title: 'Actions',
          isTitleHidden: true,
          cell: ({ id }) => (
            <Button size="small" onPress={() => onUnlink(id)}>
              Unlink
            </Button>
          ),
        },
      ]}
    />
  );
}
