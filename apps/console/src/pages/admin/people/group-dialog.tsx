import { CreateGroup, GetGroup, type Group, ListUsers, UpdateGroup } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { type RequestBodyField, RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { displayNameOf, roleOptions } from './user-names.tsx';
import { isolated } from '../../../text/isolated.ts';

type Members = Group['users'];

/** The request body of a group: of its members, it has only the ids. */
function bodyOfGroup({ name, description, mappingsSSO, rootRole, users }: Group) {
  return {
    name,
    description,
    mappingsSSO,
    rootRole,
    users: users.map(({ user }) => ({ user: { id: user.id } })),
  };
}

const emptyGroup = { name: '', description: '', mappingsSSO: [], rootRole: null, users: [] };

function linesOf(value: string): string[] {
  return value.split('\n');
}

/** Creates a group, or edits the given one. */
export function GroupDialog({ group, onClose }: { readonly group: Group | undefined; readonly onClose: () => void }) {
  const users = useQuery(operationQuery(ListUsers, {}));
  const roles = users.data?.rootRoles ?? [];
  const options = (users.data?.users ?? []).map((user) => ({
    id: String(user.id),
    label: displayNameOf(user),
    description: user.email ?? user.username,
  }));
  const fields: readonly RequestBodyField[] = [
    { name: 'name', label: 'Name' },
    { name: 'description', label: 'Description', rows: 2 },
    {
      name: 'users',
      label: 'Members',
      render: (value, onChange) => (
        <MultiComboBox
          label="Add a member"
          options={options}
          value={(value as Members).map(({ user }) => String(user.id))}
          onChange={(ids) => onChange(ids.map((id) => ({ user: { id: Number(id) } })))}
          emptyText="No members yet"
        />
      ),
    },
    {
      name: 'rootRole',
      label: 'Root role',
      hint: 'What every member may do everywhere',
      options: [{ id: '', label: 'None' }, ...roleOptions(roles)],
    },
    {
      name: 'mappingsSSO',
      label: 'Groups of the identity provider',
      render: (value, onChange) => (
        <TextField
          label="Groups of the identity provider"
          hint="One a line. At each sign-in their members become members of this group."
          rows={3}
          value={(value as string[]).join('\n')}
          onChange={(lines) => onChange(linesOf(lines))}
          onBlur={() => onChange((value as string[]).map((line) => line.trim()).filter((line) => line !== ''))}
        />
      ),
    },
  ];
  const sharedProps = {
    fields,
    notification: ({ name }: Readonly<Record<string, unknown>>) => `${isolated(String(name))} is saved.`,
    onClose,
  };
  return group === undefined ? (
    <RequestBodyDialog
      {...sharedProps}
      title="Create a group"
      submit="Create"
      operation={CreateGroup}
      request={{}}
      values={emptyGroup}
    />
  ) : (
    <RequestBodyDialog
      {...sharedProps}
      title={`Edit the group “${isolated(group.name)}”`}
      submit="Save"
      operation={UpdateGroup}
      request={{ params: { id: group.id } }}
      values={bodyOfGroup(group)}
      readStored={async () => ({ value: bodyOfGroup(await call(GetGroup, { params: { id: group.id } })) })}
    />
  );
}
