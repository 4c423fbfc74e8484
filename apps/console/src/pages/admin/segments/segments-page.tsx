import { CreateSegment, constraintPhrase } from '@bunting/contracts';
import { Link, useParams } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useSegmentSummaries } from '../../../api/queries-and-mutations.ts';
import { buttonClass, PlaceOfButton } from '../../../components/buttons/button.tsx';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { Loading } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { Time } from '../../../components/content/time.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { AdminPage } from '../admin-page.tsx';
import { Icon } from '../../../components/content/icon.tsx';
import { ProjectName } from '../../../components/content/project-name.tsx';
import layout from '../../../components/layout/layout.module.css';

const NewSegmentPage = lazyPart(async () => (await import('./new-segment-page.tsx')).NewSegmentPage);
const SegmentPage = lazyPart(async () => (await import('./segment-page.tsx')).SegmentPage);

function Segments() {
  const query = useSegmentSummaries();
  const segments = { ...query, data: query.data?.segments };
  const mayCall = useMayCall();
  const createLink = mayCall(CreateSegment) && (
    <Link
      to="/admin/$section/$item"
      params={{ section: 'segments', item: 'new' }}
      className={buttonClass({ variant: 'primary' })}
    >
      <Icon name="add" />
      Create a segment
    </Link>
  );
  const mayBeEmpty = segments.data === undefined ? segments.error === null : segments.data.length === 0;
  return (
    <AdminPage id="segments" actions={<PlaceOfButton isHidden={mayBeEmpty}>{createLink}</PlaceOfButton>}>
      <MissingPermissionNotice operation={CreateSegment} />
      <ResourceList
        label="Segments"
        query={segments}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        text={({ description, project, contextNames }) => [description ?? '', project ?? '', ...contextNames].join(' ')}
        columns={[
          {
            title: 'Name',
            cell: ({ id, name, description }) => (
              <>
                <Link to="/admin/$section/$item" params={{ section: 'segments', item: String(id) }}>
                  <bdi>{name}</bdi>
                </Link>
                {description != null && description !== '' && (
                  <p className={layout['small']} dir="auto">
                    {description}
                  </p>
                )}
              </>
            ),
          },
          {
            title: 'Who is in it',
            cell: ({ constraints, list }) => {
              const conditions = constraints.map((one) => constraintPhrase(one));
              if (list !== undefined)
                conditions.push(`${list.contextName} is in a list of ${formatCount(list.size, 'id')}`);
              return conditions.join(', and ') || 'everybody';
            },
          },
          {
            title: 'Offered in',
            cell: ({ project }) =>
              project == null ? (
                <span className={layout['nowrap']}>every project</span>
              ) : (
                <Badge>
                  <ProjectName id={project} />
                </Badge>
              ),
          },
          { title: 'Flags', isNumber: true, cell: ({ usedInFeatures }) => usedInFeatures },
          { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        ]}
        empty={{
          title: 'No segments yet',
          help: 'A segment is a named set of constraints, or a list of ids, such as beta testers, that strategies of many flags use.',
          action: createLink,
        }}
      />
    </AdminPage>
  );
}

/** The list of segments, or one segment if the path names it. */
export function SegmentsPage() {
  const { item } = useParams({ strict: false }) as { readonly item?: string };
  if (item === undefined) return <Segments />;
  return (
    <Suspense fallback={<Loading />}>
      {item === 'new' ? <NewSegmentPage /> : <SegmentPage key={item} item={item} />}
    </Suspense>
  );
}
