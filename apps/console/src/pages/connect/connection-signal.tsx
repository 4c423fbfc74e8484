import { type ApiToken, ListApplications, ListProjectApiTokens } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Icon } from '../../components/content/icon.tsx';
import { Time } from '../../components/content/time.tsx';
import styles from './connect-sdk.module.css';

const intervalMs = 2_000;

interface ConnectionSignalProps {
  readonly project: string;
  readonly environment: string;
  /** the token that was created here */
  readonly token: ApiToken | undefined;
}

/** Waits for the first sign of an application: its registration, its metrics or, of an SDK without these, a use of its token. */
export function ConnectionSignal({ project, environment, token }: ConnectionSignalProps) {
  const [before, setBefore] = useState<string>();
  const applications = useQuery({
    ...operationQuery(ListApplications, { query: { sortBy: 'lastSeenAt', sortOrder: 'desc', limit: 50 } }),
    refetchInterval: intervalMs,
    // The first answer says what was there before.
    gcTime: 0,
  });
  const newest = (applications.data?.applications ?? []).find(({ usage }) =>
    usage.some((one) => ['*', project].includes(one.project) && one.environments.includes(environment)),
  );
  // By the times of the server alone: the clock of the browser may be wrong.
  if (before === undefined && applications.data !== undefined) setBefore(newest?.lastSeenAt ?? '');
  const application = before !== undefined && newest !== undefined && newest.lastSeenAt > before ? newest : undefined;
  const tokens = useQuery({
    ...operationQuery(ListProjectApiTokens, { params: { projectId: project } }),
    enabled: token !== undefined,
    refetchInterval: intervalMs,
    select: ({ tokens: all }) =>
      all.find(({ tokenName, createdAt }) => tokenName === token?.tokenName && createdAt === token.createdAt)?.seenAt,
  });
  const isConnected = application !== undefined || tokens.data != null;
  return (
    <p className={styles['signal']} role="status" data-connected={isConnected || undefined}>
      {isConnected ? <Icon name="check" /> : <span className={styles['pulse']} aria-hidden="true" />}
      {application !== undefined && (
        <span>
          <strong>{application.appName}</strong> is connected to {environment}
          {application.sdkVersion !== null && ` · ${application.sdkVersion}`} · <Time at={application.lastSeenAt} />
        </span>
      )}
      {application === undefined && tokens.data != null && (
        <span>
          The token was used in {environment} · <Time at={tokens.data} />
        </span>
      )}
      {!isConnected && <span>Waiting for the first signal from {environment}…</span>}
    </p>
  );
}
