import { ListApiTokens, ListPermissions, ListProjectRoleHolders, ListRoleHolders } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery, useEnvironments, useProjects } from '../../../api/queries.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { Table } from '../../../components/content/table.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ComboBox, Select } from '../../../components/forms/fields.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { rolesMessages as text } from '../../../messages/administration/roles.ts';
import { AdminPage } from '../admin-page.tsx';
import { displayNameOf, UserCell } from '../people/user-cell.tsx';
import { permissionHolders, permissionGroups, type PermissionHolder, type GrantSource } from './role-permissions.ts';
import styles from '../people/people.module.css';

const nameOfSource = ({ role, group }: GrantSource): string =>
  group === undefined ? text.ownRole(role.name) : text.byGroup(role.name, group);

const GrantSources = ({ sources }: { readonly sources: readonly GrantSource[] }) => (
  <span className={styles['badges']}>
    {[...new Set(sources.map(nameOfSource))].map((name) => (
      <Badge key={name}>{name}</Badge>
    ))}
  </span>
);

const mayOf = ({ permissions }: PermissionHolder): string => {
  if (permissions.has('ADMIN')) return text.everything;
  return permissions.size === 0 ? text.nothing : text.permissions(permissions.size);
};

const AdminTokens = () => {
  const tokens = useQuery(operationQuery(ListApiTokens, {}));
  const count = tokens.data?.tokens.filter(({ type }) => type === 'admin').length ?? 0;
  if (count === 0) return null;
  return (
    <Notice
      actions={
        <Link to="/admin/$section" params={{ section: 'api-tokens' }} search={{ type: 'admin' }}>
          {text.showTokens}
        </Link>
      }
    >
      {text.adminTokens(count)}
    </Notice>
  );
};

const everywhere = '*';

/** Who may do what, everywhere or in a project, and through which role and group. */
export const AccessPage = () => {
  const [chosen, setProject] = useSearchParameter('project');
  const [chosenEnvironment, setEnvironment] = useSearchParameter('environment');
  const [permission, setPermission] = useSearchParameter('permission');
  const [shown, setShown] = useState<PermissionHolder | undefined>();
  const projects = useProjects().data?.projects ?? [];
  const environments = useEnvironments().data?.environments ?? [];
  const catalogue = useQuery(operationQuery(ListPermissions, {}));
  const mayCall = useMayCall();
  const mayListAll = mayCall(ListRoleHolders);
  const project = chosen ?? (mayListAll ? undefined : projects[0]?.id);
  // Everywhere, no environment can be chosen, and one that is left in the address from a project does not count.
  const environment = project === undefined ? undefined : chosenEnvironment;
  const instance = useQuery({ ...operationQuery(ListRoleHolders, {}), enabled: project === undefined && mayListAll });
  const inProject = useQuery({
    ...operationQuery(ListProjectRoleHolders, { params: { projectId: project ?? '' } }),
    enabled: project !== undefined,
  });
  const holders = project === undefined ? instance : inProject;
  const groups = catalogue.data === undefined ? [] : permissionGroups(catalogue.data);
  const offered = groups.filter(({ kind }) => kind !== 'root' || project === undefined);
  const displayNames = new Map(groups.flatMap((group) => group.permissions.map((one) => [one.name, one.displayName])));
  const projectOptions = [
    ...(mayListAll ? [{ id: everywhere, label: text.everywhere }] : []),
    ...projects.map(({ id, name }) => ({ id, label: name, description: id })),
  ];
  const users = holders.data && permissionHolders(holders.data, { permission, environment });
  return (
    <AdminPage id="access">
      <div className={styles['filters']}>
        <ComboBox
          label={text.place}
          options={projectOptions}
          value={project ?? everywhere}
          onChange={(id) => setProject(id === everywhere ? undefined : id)}
        />
        {project !== undefined && (
          <Select
            label={text.environment}
            options={[
              { id: everywhere, label: text.anyEnvironment },
              ...environments.map(({ name }) => ({ id: name, label: name })),
            ]}
            value={environment ?? everywhere}
            onChange={(id) => setEnvironment(id === everywhere ? undefined : id)}
          />
        )}
        <ComboBox
          key={`${offered.length} ${catalogue.isSuccess}`}
          label={text.mayDo}
          options={[
            { id: everywhere, label: text.anyPermission },
            ...offered.flatMap((group) =>
              group.permissions.map(({ name, displayName }) => ({
                id: name,
                label: displayName,
                description: text.groups[group.kind],
              })),
            ),
          ]}
          value={permission ?? everywhere}
          onChange={(id) => setPermission(id === everywhere ? undefined : id)}
        />
      </div>
      <ResourceList
        label={text.access}
        query={{ ...holders, data: users }}
        rowKey={({ user }) => user.id}
        name={({ user }) => displayNameOf(user)}
        text={({ user, sources }) => [user.username ?? '', user.email ?? '', ...sources.map(nameOfSource)].join(' ')}
        columns={[
          {
            id: 'person',
            title: text.person,
            cell: ({ user }) => (
              <span className={styles['badges']}>
                <UserCell user={user} />
                {user.isService && <Badge>{text.serviceAccount}</Badge>}
              </span>
            ),
          },
          { id: 'through', title: text.through, cell: ({ sources }) => <GrantSources sources={sources} /> },
          {
            id: 'may',
            title: text.may,
            cell: (holder) =>
              holder.permissions.size === 0 || holder.permissions.has('ADMIN') ? (
                mayOf(holder)
              ) : (
                <Button size="small" onPress={() => setShown(holder)}>
                  {mayOf(holder)}
                </Button>
              ),
          },
        ]}
        empty={{ title: text.none, help: text.noneHelp }}
      />
      {project === undefined && mayListAll && <AdminTokens />}
      {shown !== undefined && (
        <Dialog
          title={text.details(displayNameOf(shown.user))}
          onClose={() => setShown(undefined)}
          isWide
          footer={<Button onPress={() => setShown(undefined)}>{sharedMessages.common.close}</Button>}
        >
          <Table
            label={text.details(displayNameOf(shown.user))}
            rows={[...shown.permissions]}
            rowKey={([name]) => name}
            columns={[
              { id: 'permission', title: text.permission, cell: ([name]) => displayNames.get(name) ?? name },
              { id: 'by', title: text.by, cell: ([, sources]) => <GrantSources sources={sources} /> },
            ]}
          />
        </Dialog>
      )}
    </AdminPage>
  );
};
