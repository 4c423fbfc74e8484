import {
  CreateRole,
  DeleteRole,
  GetRole,
  ListPermissions,
  ListRoles,
  type ReplyOf,
  type RoleWithPermissions,
} from '@bunting/contracts';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, Suspense, useState } from 'react';
import { lazyPart } from '../../../components/content/lazy-part.tsx';
import { usePreload } from '../../../components/resources/use-preload.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { QueryResult, Loading } from '../../../components/content/query-result.tsx';
import { Icon } from '../../../components/content/icon.tsx';
import { Menu } from '../../../components/buttons/menu.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { permissionGroupTexts, createRoleTexts } from './role-permissions.ts';
import { usePageActions } from '../../../shell/page-actions.ts';
import { AdminPage } from '../admin-page.tsx';
import { permissionGroups, type GrantScope, grantScopeOf } from './role-permissions.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../people/people.module.css';
import { isolated } from '../../../text/isolated.ts';

const texts = {
  kindNames: { root: 'Root roles', project: 'Project roles' },
} as const;

function loadDialogs() {
  return import('./role-dialog.tsx');
}
const RoleDialog = lazyPart(async () => (await loadDialogs()).RoleDialog);

type RoleKind = 'root' | 'project';
const roleKinds: readonly RoleKind[] = ['root', 'project'];
function roleKindOf(type: string): RoleKind {
  return type === 'root' || type === 'root-custom' ? 'root' : 'project';
}
function isCustom({ type }: { readonly type: string }): boolean {
  return type === 'root-custom' || type === 'custom';
}

function GrantScopeCell({ scope }: { readonly scope: GrantScope }) {
  if (scope === 'none') return <span className="visually-hidden">no</span>;
  if (scope === 'all') {
    return (
      <span className={styles['yes']}>
        <Icon name="check" />
        <span className="visually-hidden">yes</span>
      </span>
    );
  }
  return (
    <span className={styles['no']}>{scope === 'default' ? 'in default' : `in ${scope.environments.join(', ')}`}</span>
  );
}

interface MatrixProps {
  readonly catalogue: ReplyOf<typeof ListPermissions>;
  readonly kind: RoleKind;
  readonly roles: readonly RoleWithPermissions[];
  readonly onEdit: (role: RoleWithPermissions) => void;
  readonly onRemove: (role: RoleWithPermissions) => void;
}

function Matrix({ catalogue, kind, roles, onEdit, onRemove }: MatrixProps) {
  const mayCall = useMayCall();
  return (
    <div className={styles['matrixHolder']} role="region" aria-label="What roles give" tabIndex={0}>
      <table className={styles['matrix']} aria-label="What roles give">
        <thead>
          <tr>
            <th scope="col">Permission</th>
            {roles.map((role) => (
              <th key={role.id} scope="col" title={role.description}>
                <span className={styles['columnHead']}>
                  <span dir="auto">{role.name}</span>
                  {isCustom(role) && mayCall(CreateRole) && (
                    <Menu
                      label={`Actions for the role ${role.name}`}
                      entries={[
                        { id: 'edit', label: 'Edit', icon: 'edit', run: () => onEdit(role) },
                        { id: 'remove', label: 'Delete', icon: 'remove', run: () => onRemove(role) },
                      ]}
                    >
                      <IconButton icon="more" size="small" label={`Actions for the role ${role.name}`} />
                    </Menu>
                  )}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        {permissionGroups(catalogue)
          .filter((group) => group.kind !== 'root' || kind === 'root')
          .map((group) => (
            <Fragment key={group.kind}>
              <tbody>
                <tr>
                  <th scope="rowgroup" colSpan={roles.length + 1} className={styles['group']}>
                    {permissionGroupTexts[group.kind]}
                  </th>
                </tr>
                {group.permissions.map(({ name, displayName }) => (
                  <tr key={name}>
                    <th scope="row" title={name}>
                      {displayName}
                    </th>
                    {roles.map((role) => (
                      <td key={role.id}>
                        <GrantScopeCell scope={grantScopeOf(role, name, group.kind)} />
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </Fragment>
          ))}
      </table>
    </div>
  );
}

/** The roles as a matrix of their permissions. */
export function RolesPage() {
  const [kindInUrl] = useSearchParameter('kind');
  const kind = roleKinds.find((tab) => tab === kindInUrl) ?? 'root';
  const catalogue = useQuery(operationQuery(ListPermissions, {}));
  const roles = useQuery(operationQuery(ListRoles, {}));
  const rolesOfKind = roles.data?.roles.filter(({ type }) => roleKindOf(type) === kind) ?? [];
  const details = useQueries({ queries: rolesOfKind.map(({ id }) => operationQuery(GetRole, { params: { id } })) });
  const mayCall = useMayCall();
  const [editedRole, setEditedRole] = useState<RoleWithPermissions | 'new' | undefined>();
  const [roleToDelete, setRoleToDelete] = useState<RoleWithPermissions | undefined>();
  usePreload(loadDialogs);
  usePageActions(
    mayCall(CreateRole)
      ? [{ id: 'roles.create', title: createRoleTexts[kind], key: 'c', run: () => setEditedRole('new') }]
      : [],
  );
  const loadedRoles = details.flatMap(({ data }) => data ?? []);
  return (
    <AdminPage
      id="roles"
      actions={
        mayCall(CreateRole) && (
          <Button
            variant="primary"
            icon="add"
            isDisabled={catalogue.data === undefined}
            onPress={() => setEditedRole('new')}
          >
            {createRoleTexts[kind]}
          </Button>
        )
      }
    >
      <MissingPermissionNotice operation={CreateRole} />
      <p className={layout['muted']}>
        Root roles hold everywhere; project roles are given to people and groups in a project.
      </p>
      <nav aria-label="Kinds of roles" className={layout['tabs']}>
        {roleKinds.map((tab) => (
          <Link
            key={tab}
            to="/admin/$section"
            params={{ section: 'roles' }}
            search={{ kind: tab }}
            data-current={tab === kind || undefined}
            aria-current={tab === kind ? 'page' : undefined}
          >
            {texts.kindNames[tab]}
          </Link>
        ))}
      </nav>
      <QueryResult query={catalogue}>
        {(permissions) => (
          <QueryResult query={roles}>
            {() =>
              loadedRoles.length < rolesOfKind.length ? (
                <Loading />
              ) : (
                <Matrix
                  catalogue={permissions}
                  kind={kind}
                  roles={loadedRoles}
                  onEdit={setEditedRole}
                  onRemove={setRoleToDelete}
                />
              )
            }
          </QueryResult>
        )}
      </QueryResult>
      <Suspense>
        {editedRole !== undefined && catalogue.data !== undefined && (
          <RoleDialog
            catalogue={catalogue.data}
            kind={kind}
            role={editedRole === 'new' ? undefined : editedRole}
            onClose={() => setEditedRole(undefined)}
          />
        )}
      </Suspense>
      {roleToDelete !== undefined && (
        <ConfirmOperationDialog
          title={`Delete the role “${isolated(roleToDelete.name)}”?`}
          confirm="Delete"
          isDangerous
          operation={DeleteRole}
          request={{ params: { id: roleToDelete.id } }}
          notification={`The role ${isolated(roleToDelete.name)} is deleted.`}
          onClose={() => setRoleToDelete(undefined)}
        >
          <p>A role that a person or a group has cannot be deleted; take it from them first.</p>
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
}
