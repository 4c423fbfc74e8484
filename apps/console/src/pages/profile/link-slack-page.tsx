import { CheckSlackLink, LinkSlackAccount } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ApiError } from '../../api/api-error.ts';
import { operationQuery, useMe, useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { EmptyState, QueryResult } from '../../components/content/query-result.tsx';
import layout from '../../components/layout/layout.module.css';
import { Page } from '../../components/layout/page.tsx';
import { notify } from '../../shell/toasts.tsx';

/** What a link is refused with that is used up, or is none. */
const finalKinds: ReadonlySet<string> = new Set(['InvalidTokenError', 'ValidationError']);

/** Asks the signed-in person whether a Slack account may act as them. The link has the token that Slack has shown to the account. */
export function LinkSlackPage() {
  const token = useSearch({ strict: false }).token ?? '';
  const navigate = useNavigate();
  const me = useMe();
  const slackAccount = useQuery({ ...operationQuery(CheckSlackLink, { body: { token } }), retry: false });
  const link = useOperationMutation(LinkSlackAccount, 'handled', () => {
    notify('The Slack account is linked. Press the button in Slack again.');
    // The token is used up, so the page is not kept in the history.
    void navigate({ href: '/profile', replace: true });
  });
  const name = me.data?.user.name ?? me.data?.user.username ?? me.data?.user.email ?? 'you';
  if (slackAccount.error instanceof ApiError && finalKinds.has(slackAccount.error.kind))
    return (
      <Page title="Link a Slack account">
        <EmptyState title="This link does not work any more">
          It was used already, or has expired. Press the button in Slack again: you get a new link.
        </EmptyState>
      </Page>
    );
  return (
    <Page title="Link a Slack account">
      <QueryResult query={slackAccount}>
        {({ slackUserName, slackUserId, teamName, teamId }) => (
          <div className={layout['stack']}>
            <p>
              Link the Slack account{' '}
              <strong>
                {slackUserName} ({slackUserId})
              </strong>{' '}
              of the workspace{' '}
              <strong>
                {teamName} ({teamId})
              </strong>{' '}
              to <strong>{name}</strong>? From then on it approves, rejects and comments change requests as {name}.
            </p>
            <Notice tone="warning">
              Link it only if it is your own account, and if you pressed a button in Slack just now. A link that
              somebody else sent to you would let them act as you.
            </Notice>
            <ErrorNotice error={link.error} />
            <div className={layout['bar']}>
              <Button onPress={() => void navigate({ href: '/' })}>Cancel</Button>
              <Button variant="primary" isPending={link.isPending} onPress={() => link.mutate({ body: { token } })}>
                Link {slackUserName} to {name}
              </Button>
            </div>
          </div>
        )}
      </QueryResult>
    </Page>
  );
}
