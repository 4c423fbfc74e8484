import { CreateSegment, constraintPhrase } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useSegmentSummaries } from '../../../api/queries-and-mutations.ts';
import { buttonClass } from '../../../components/buttons/button.tsx';
import { Icon } from '../../../components/content/icon.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import layout from '../../../components/layout/layout.module.css';

/** The segments that belong to a project alone. */
export function SegmentsTab({ project }: { readonly project: string }) {
  const query = useSegmentSummaries();
  const segments = { ...query, data: query.data?.segments.filter((segment) => segment.project === project) };
  const mayCall = useMayCall();
  const createLink = mayCall(CreateSegment, { project }) && (
    <Link
      to="/admin/$section/$item"
      params={{ section: 'segments', item: 'new' }}
      search={{ project }}
      className={buttonClass({ variant: 'primary' })}
    >
      <Icon name="add" />
      Create a segment
    </Link>
  );
  return (
    <div className={layout['stack']}>
      <ResourceList
        label="Segments"
        query={segments}
        create={createLink}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={({ description }) => description ?? ''}
        columns={[
          {
            title: 'Name',
            cell: ({ id, name }) => (
              <Link to="/admin/$section/$item" params={{ section: 'segments', item: String(id) }}>
                <bdi>{name}</bdi>
              </Link>
            ),
          },
          {
            title: 'Constraints',
            cell: ({ constraints }) => constraints.map((one) => constraintPhrase(one)).join(', and '),
          },
          { title: 'Flags', isNumber: true, cell: ({ usedInFeatures }) => usedInFeatures },
        ]}
        empty={{
          title: 'No segments of this project alone',
          help: 'Segments for every project are in Administration. One that belongs to this project is offered only here.',
          action: createLink,
        }}
      />
    </div>
  );
}
