import { CreateSegment } from '@bunting/contracts';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMayCall } from '../../../api/permissions.ts';
import { useProjects } from '../../../api/queries-and-mutations.ts';
import { buttonClass } from '../../../components/buttons/button.tsx';
import { RequestBodyForm } from '../../../components/forms/request-body-form.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { AdminPage } from '../admin-page.tsx';
import { useFields, useSegmentForm } from './segment-form.tsx';
import { isolated } from '../../../text/isolated.ts';

/** The form of a new segment. */
export function NewSegmentPage() {
  const { project } = useSearch({ strict: false });
  const navigate = useNavigate();
  const mayCall = useMayCall();
  const fields = useFields(CreateSegment);
  const allowed = useProjects().data?.projects.find(({ id }) => mayCall(CreateSegment, { project: id }));
  const { renderConstraints, ...form } = useSegmentForm();
  const mayCreateHere = mayCall(CreateSegment, { project });
  const offeredIn = mayCreateHere ? (project ?? null) : allowed?.id;
  if (offeredIn === undefined)
    return (
      <AdminPage id="segments" title="New segment">
        <MissingPermissionNotice operation={CreateSegment} />
      </AdminPage>
    );
  return (
    <AdminPage id="segments" title="New segment">
      <RequestBodyForm
        isNew
        submit="Create"
        operation={CreateSegment}
        request={{}}
        values={{ project: offeredIn, constraints: [] }}
        fields={fields}
        {...form}
        renderBody={(values, onChange) => renderConstraints(values, onChange, false)}
        notification={({ name }) => `The segment ${isolated(String(name))} is created.`}
        onDone={(_body, { id }) =>
          void navigate({
            to: '/admin/$section/$item',
            params: { section: 'segments', item: String(id) },
            ignoreBlocker: true,
          })
        }
        footer={
          <Link to="/admin/$section" params={{ section: 'segments' }} className={buttonClass()}>
            Cancel
          </Link>
        }
      />
    </AdminPage>
  );
}
