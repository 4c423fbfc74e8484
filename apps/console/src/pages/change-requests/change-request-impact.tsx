import { type ChangeRequest, EvaluateImpact, isJsonObject } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { QueryResult } from '../../components/content/query-result.tsx';
import { ImpactGroups } from '../strategy/impact-groups.tsx';
import layout from '../../components/layout/layout.module.css';

interface RequestProps {
  readonly request: ChangeRequest;
}

const withoutSnapshot = (payload: unknown): unknown => {
  if (!isJsonObject(payload)) return payload;
  const { snapshot: _, ...rest } = payload;
  return rest;
};

/** The users for whom the change request would turn flags on or off if it were applied now. */
export const ChangeRequestImpact = ({ request }: RequestProps) => {
  const { project, environment } = request;
  const changes = [
    ...request.features.flatMap(({ name, changes: featureChanges }) =>
      featureChanges.map(({ action, payload }) => ({ action, feature: name, payload: withoutSnapshot(payload) })),
    ),
    ...request.segments.flatMap(({ changes: segmentChanges }) =>
      segmentChanges.map(({ action, payload }) => ({ action, payload: withoutSnapshot(payload) })),
    ),
  ];
  const query = useQuery(operationQuery(EvaluateImpact, { body: { project, environment, changes } }));
  return (
    <section className={layout['card']} aria-labelledby="impact">
      <h2 id="impact">What it does for users</h2>
      <QueryResult query={query}>
        {({ features }) => (
          <>
            {features.map(({ name, groups }) => (
              <div key={name} className={layout['denseStack']}>
                <h3>{name}</h3>
                <ImpactGroups groups={groups} label={name} />
              </div>
            ))}
          </>
        )}
      </QueryResult>
      <Link
        to="/playground"
        search={{ changeRequest: String(request.id), projects: request.project, environments: environment }}
      >
        Try it in the playground
      </Link>
    </section>
  );
};
