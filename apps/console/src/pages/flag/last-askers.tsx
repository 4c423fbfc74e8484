import { GetFeature, GetRawFeatureMetrics } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Notice } from '../../components/content/notice.tsx';
import { Time } from '../../components/content/time.tsx';

const hoursOfApplications = 48;

/** Who asked for a flag last, and when, in each environment: applications of which use what it decides. */
export function LastAskers({ project, name }: { readonly project: string; readonly name: string }) {
  const feature = useQuery(operationQuery(GetFeature, { params: { projectId: project, featureName: name } }));
  const usage = useQuery(
    operationQuery(GetRawFeatureMetrics, {
      params: { featureName: name },
      query: { hoursBack: hoursOfApplications },
    }),
  );
  if (feature.data === undefined) return null;
  const seen = (feature.data.environments ?? []).filter(({ lastSeenAt }) => lastSeenAt != null);
  if (seen.length === 0) return <p>No application has ever asked for it.</p>;
  const applicationsIn = (environment: string): readonly string[] => [
    ...new Set((usage.data?.data ?? []).filter((row) => row.environment === environment).map(({ appName }) => appName)),
  ];
  const maxNamed = 3;
  return (
    <Notice tone="warning">
      Applications ask for it:
      <ul>
        {seen
          .toSorted((one, other) => (other.lastSeenAt ?? '').localeCompare(one.lastSeenAt ?? ''))
          .map(({ name: environment, lastSeenAt }) => {
            const applications = applicationsIn(environment);
            return (
              <li key={environment}>
                {environment}: <Time at={lastSeenAt} />
                {applications.slice(0, maxNamed).map((application, nth) => (
                  <Fragment key={application}>
                    {nth === 0 ? ', by ' : ', '}
                    <bdi>{application}</bdi>
                  </Fragment>
                ))}
                {applications.length > maxNamed && ` and ${applications.length - maxNamed} more`}
              </li>
            );
          })}
      </ul>
    </Notice>
  );
}
