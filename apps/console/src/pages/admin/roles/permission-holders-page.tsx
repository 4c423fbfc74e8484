import {
  ListApiTokens,
  ListPermissions,
  ListProjectRoleHolders,
  ListRootRoleHolders,
  permissionsFor,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery, useEnvironments, useProjects } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { Table } from '../../../components/content/table.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ComboBox, Select } from '../../../components/forms/selects.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import {
  permissionGroupTexts,
  type GrantSource,
  type PermissionHolder,
  permissionHolders,
  permissionGroups,
} from './role-permissions.ts';
import { AdminPage } from '../admin-page.tsx';
import { missingPermission } from '../../../text/permission-words.ts';
import { displayNameOf, UserNames } from '../people/user-names.tsx';
import styles from '../people/people.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { isolated } from '../../../text/isolated.ts';

function nameOfSource({ role, group }: GrantSource): string {
  return group === undefined ? role.name : `${role.name}, by the group ${group}`;
}

function GrantSources({ sources }: { readonly sources: readonly GrantSource[] }) {
  return (
    <span className={styles['badges']}>
      {[...new Set(sources.map(nameOfSource))].map((name) => (
        <Badge key={name}>{name}</Badge>
      ))}
    </span>
  );
}

function permissionSummary({ permissions }: PermissionHolder): string {
  if (permissions.has('ADMIN')) return 'everything';
  return permissions.size === 0 ? 'read' : formatCount(permissions.size, 'permission');
}

function AdminTokens() {
  const tokens = useQuery(operationQuery(ListApiTokens, {}));
  const count = tokens.data?.tokens.filter(({ type }) => type === 'admin').length ?? 0;
  if (count === 0) return null;
  return (
    <Notice
      actions={
        <Link to="/admin/$section" params={{ section: 'api-tokens' }} search={{ type: 'admin' }}>
          Show them
        </Link>
      }
    >
      Beside them, {formatCount(count, 'admin token')} may do everything.
    </Notice>
  );
}

const anyValue = '*';

/** The users who have a permission everywhere or in a project, and the roles and groups that give it to them. */
export function PermissionHoldersPage() {
  const [chosenProject, setProject] = useSearchParameter('project');
  const [chosenEnvironment, setEnvironment] = useSearchParameter('environment');
  const [permission, setPermission] = useSearchParameter('permission');
  const [openHolder, setOpenHolder] = useState<PermissionHolder | undefined>();
  const projects = useProjects().data?.projects ?? [];
  const environments = useEnvironments().data?.environments ?? [];
  const catalogue = useQuery(operationQuery(ListPermissions, {}));
  const mayCall = useMayCall();
  const mayListAll = mayCall(ListRootRoleHolders);
  const readable = projects.filter(({ id }) => mayCall(ListProjectRoleHolders, { project: id }));
  const project = chosenProject ?? (mayListAll ? undefined : readable[0]?.id);
  const mayRead = project === undefined ? mayListAll : mayCall(ListProjectRoleHolders, { project });
  // Without a project, no environment can be chosen; one that is left in the URL from a project is ignored.
  const environment = project === undefined ? undefined : chosenEnvironment;
  const installationHolders = useQuery({
    ...operationQuery(ListRootRoleHolders, {}),
    enabled: project === undefined && mayListAll,
  });
  const projectHolders = useQuery({
    ...operationQuery(ListProjectRoleHolders, { params: { projectId: project ?? '' } }),
    enabled: project !== undefined && mayRead,
  });
  const holders = project === undefined ? installationHolders : projectHolders;
  const groups = catalogue.data === undefined ? [] : permissionGroups(catalogue.data);
  const offeredGroups = groups.filter(({ kind }) => kind !== 'root' || project === undefined);
  const displayNames = new Map(
    groups.flatMap((group) => group.permissions.map((permission) => [permission.name, permission.displayName])),
  );
  const projectOptions = [
    ...(mayListAll ? [{ id: anyValue, label: 'Everywhere (root roles)' }] : []),
    ...readable.map(({ id, name }) => ({ id, label: name, description: id })),
  ];
  const users = holders.data && permissionHolders(holders.data, { permission, environment });
  return (
    <AdminPage id="access">
      <div className={styles['filters']}>
        <ComboBox
          label="Where"
          options={projectOptions}
          value={project ?? anyValue}
          onChange={(id) => setProject(id === anyValue ? undefined : id)}
        />
        {project !== undefined && (
          <Select
            label="Environment"
            options={[
              { id: anyValue, label: 'Any environment' },
              ...environments.map(({ name }) => ({ id: name, label: name })),
            ]}
            value={environment ?? anyValue}
            onChange={(id) => setEnvironment(id === anyValue ? undefined : id)}
          />
        )}
        <ComboBox
          label="May"
          options={[
            { id: anyValue, label: 'Anything' },
            ...offeredGroups.flatMap((group) =>
              group.permissions.map(({ name, displayName }) => ({
                id: name,
                label: displayName,
                description: permissionGroupTexts[group.kind],
              })),
            ),
          ]}
          value={permission ?? anyValue}
          onChange={(id) => setPermission(id === anyValue ? undefined : id)}
        />
      </div>
      {!mayRead && projects.length > 0 && (
        <p>You may not see this: that takes {missingPermission(permissionsFor(ListProjectRoleHolders))}.</p>
      )}
      {mayRead && (
        <ResourceList
          label="People and service accounts"
          query={{ ...holders, data: users }}
          rowKey={({ user }) => user.id}
          name={({ user }) => displayNameOf(user)}
          text={({ user, sources }) => [user.username ?? '', user.email ?? '', ...sources.map(nameOfSource)].join(' ')}
          columns={[
            {
              title: 'Person',
              cell: ({ user }) => (
                <span className={styles['badges']}>
                  <UserNames user={user} />
                  {user.isService && <Badge>Service account</Badge>}
                </span>
              ),
            },
            { title: 'Through', cell: ({ sources }) => <GrantSources sources={sources} /> },
            {
              title: 'May do',
              cell: (holder) =>
                holder.permissions.size === 0 || holder.permissions.has('ADMIN') ? (
                  permissionSummary(holder)
                ) : (
                  <Button size="small" onPress={() => setOpenHolder(holder)}>
                    {permissionSummary(holder)}
                  </Button>
                ),
            },
          ]}
          empty={{
            title: 'No user may do this here',
            help: 'Give a role that has the permission to a person or a group.',
          }}
        />
      )}
      {project === undefined && mayListAll && <AdminTokens />}
      {openHolder !== undefined && (
        <Dialog
          title={`What ${isolated(displayNameOf(openHolder.user))} may do`}
          onClose={() => setOpenHolder(undefined)}
          isWide
          footer={<Button onPress={() => setOpenHolder(undefined)}>Close</Button>}
        >
          <Table
            label={`What ${displayNameOf(openHolder.user)} may do`}
            rows={[...openHolder.permissions]}
            rowKey={([name]) => name}
            columns={[
              { title: 'Permission', cell: ([name]) => displayNames.get(name) ?? name },
              { title: 'Through', cell: ([, sources]) => <GrantSources sources={sources} /> },
            ]}
          />
        </Dialog>
      )}
    </AdminPage>
  );
}
