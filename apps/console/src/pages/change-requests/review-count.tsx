import { SearchChangeRequests } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery, useMe } from '../../api/queries-and-mutations.ts';
import { Badge } from '../../components/content/badge.tsx';
import { formatNumber } from '../../text/format-number.ts';

/** Milliseconds after which the number is read again on a page that does not change it. */
const refetchIntervalMs = 60_000;

/** The number of change requests that wait for the user's review, in a project or in all of them; nothing for none. */
export function ReviewCount({ project }: { readonly project?: string | undefined }) {
  const isSignedIn = useMe().data !== undefined;
  const { data } = useQuery({
    ...operationQuery(SearchChangeRequests, {
      query: { reviewable: true, limit: 1, ...(project !== undefined && { project: `IS:${project}` }) },
    }),
    enabled: isSignedIn,
    refetchInterval: refetchIntervalMs,
  });
  return data === undefined || data.total === 0 ? null : (
    <>
      {' '}
      <Badge tone="accent">
        {formatNumber(data.total)}
        <span className="visually-hidden"> to review</span>
      </Badge>
    </>
  );
}
