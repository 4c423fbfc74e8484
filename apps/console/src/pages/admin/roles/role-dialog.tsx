import {
  CreateRole,
  ListRootRoleHolders,
  GetRole,
  type ReplyOf,
  type ListPermissions,
  type RoleBody,
  type RoleWithPermissions,
  UpdateRole,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { call } from '../../../api/call.ts';
import { operationQuery, useOperationMutation } from '../../../api/queries-and-mutations.ts';
import { validationErrorOf } from '../../../components/forms/request-body-schema.ts';
import { Notice } from '../../../components/content/notice.tsx';
import { FormDialog } from '../../../components/dialogs/dialog.tsx';
import { Checkbox } from '../../../components/forms/fields.tsx';
import { BoundTextField } from '../../../components/forms/bound-fields.tsx';
import { showServerError } from '../../../components/forms/form-values.ts';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { permissionGroupTexts, createRoleTexts } from './role-permissions.ts';
import { notify } from '../../../shell/toasts.tsx';
import { displayNameOf } from '../people/user-names.tsx';
import { bodyOfGrants, grantKey, grantsOf, mergeGrants, permissionGroups } from './role-permissions.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { isolated } from '../../../text/isolated.ts';

type Catalogue = ReplyOf<typeof ListPermissions>;

interface GrantsProps {
  readonly catalogue: Catalogue;
  readonly kind: 'root' | 'project';
  readonly grants: ReadonlySet<string>;
  readonly onChange: (grants: ReadonlySet<string>) => void;
}

/** The permissions of a role as checkboxes. A permission of environments is granted for every environment, or for some. */
function GrantCheckboxes({ catalogue, kind, grants, onChange }: GrantsProps) {
  const environments = catalogue.permissions.environments.map(({ name }) => name);
  const set = (key: string, isOn: boolean): void => {
    const next = new Set(grants);
    if (isOn) next.add(key);
    else next.delete(key);
    onChange(next);
  };
  return permissionGroups(catalogue)
    .filter((group) => group.kind !== 'root' || kind === 'root')
    .map((group) => (
      <fieldset key={group.kind} className={styles['fieldset']}>
        <legend>{permissionGroupTexts[group.kind]}</legend>
        {group.kind === 'environment' ? (
          group.permissions.map(({ name, displayName }) => (
            <div key={name} role="group" aria-label={displayName}>
              <p>{displayName}</p>
              <div className={styles['choices']}>
                <Checkbox isSelected={grants.has(name)} onChange={(isOn) => set(name, isOn)}>
                  every environment
                </Checkbox>
                {environments.map((environment) => (
                  <Checkbox
                    key={environment}
                    aria-label={`${displayName} in ${environment}`}
                    isDisabled={grants.has(name)}
                    isSelected={grants.has(name) || grants.has(grantKey(name, environment))}
                    onChange={(isOn) => set(grantKey(name, environment), isOn)}
                  >
                    {environment}
                  </Checkbox>
                ))}
              </div>
            </div>
          ))
        ) : (
          <div className={styles['choices']}>
            {group.permissions.map(({ name, displayName }) => (
              <Checkbox key={name} isSelected={grants.has(name)} onChange={(isOn) => set(name, isOn)}>
                {displayName}
              </Checkbox>
            ))}
          </div>
        )}
      </fieldset>
    ));
}

interface EditedRole {
  readonly name: string;
  readonly description: string;
  readonly grants: ReadonlySet<string>;
}

interface RoleDialogProps {
  readonly catalogue: Catalogue;
  readonly kind: 'root' | 'project';
  /** undefined for a new role */
  readonly role: RoleWithPermissions | undefined;
  readonly onClose: () => void;
}

/** Merges the edit of `role` with what other users have saved since `role` was read. @throws ApiError */
async function mergeRole(role: RoleWithPermissions, edited: EditedRole): Promise<EditedRole> {
  const stored = await call(GetRole, { params: { id: role.id } });
  return {
    name: edited.name === role.name ? stored.name : edited.name,
    description: edited.description === role.description ? stored.description : edited.description,
    grants: mergeGrants(grantsOf(role), edited.grants, grantsOf(stored)),
  };
}

/** Creates a role, or edits the given one and lists who has it. */
export function RoleDialog({ catalogue, kind, role, onClose }: RoleDialogProps) {
  const create = useOperationMutation(CreateRole, 'handled');
  const update = useOperationMutation(UpdateRole, 'handled');
  const holders = useQuery({
    ...operationQuery(ListRootRoleHolders, {}),
    enabled: role !== undefined && kind === 'root',
  });
  // The base of the merge is the role as it was when the dialog opened, also after the list is refetched.
  const [base] = useState(role);
  const [grants, setGrants] = useState<ReadonlySet<string>>(role === undefined ? new Set() : grantsOf(role));
  const { control, handleSubmit, setError, formState } = useForm({
    defaultValues: { name: role?.name ?? '', description: role?.description ?? '' },
  });
  const submit = handleSubmit(async ({ name, description }) => {
    const entered: EditedRole = { name: name.trim(), description: description.trim(), grants };
    try {
      const edited = base === undefined ? entered : await mergeRole(base, entered);
      const permissions = bodyOfGrants(edited.grants) as RoleBody['permissions'];
      const body = { name: edited.name, description: edited.description, permissions };
      if (base === undefined) {
        await create.mutateAsync({ body: { ...body, type: kind === 'root' ? 'root-custom' : 'custom' } });
      } else await update.mutateAsync({ params: { id: base.id }, body });
    } catch (error) {
      return showServerError(error, ['name', 'description'], setError);
    }
    notify(`The role ${isolated(entered.name)} is saved.`);
    onClose();
  });
  return (
    <FormDialog
      title={role === undefined ? createRoleTexts[kind] : `Edit the role “${isolated(role.name)}”`}
      onClose={onClose}
      isWide
      onSubmit={submit}
      submit={role === undefined ? 'Create' : 'Save'}
      isPending={formState.isSubmitting}
    >
      {formState.errors.root?.message !== undefined && <Notice tone="danger">{formState.errors.root.message}</Notice>}
      {role !== undefined && kind === 'root' && (
        <UsageList
          query={holders}
          title={(n) => `${formatCount(n, 'person', 'people')} with this role everywhere:`}
          emptyText="No user or group has this role everywhere."
          uses={({ users }) =>
            users
              .filter(({ through }) => through.some((source) => source.role === role.id))
              .map((user) => ({ key: String(user.id), node: displayNameOf(user) }))
          }
        />
      )}
      {role !== undefined && <p className={layout['muted']}>What its holders may do changes immediately.</p>}
      <BoundTextField
        control={control}
        name="name"
        label="Name"
        required="Enter a name."
        validate={(value) => validationErrorOf(CreateRole.body, 'name', value)}
        autoFocus
      />
      <BoundTextField
        control={control}
        name="description"
        label="Description"
        validate={(value) => validationErrorOf(CreateRole.body, 'description', value)}
      />
      <GrantCheckboxes catalogue={catalogue} kind={kind} grants={grants} onChange={setGrants} />
    </FormDialog>
  );
}
